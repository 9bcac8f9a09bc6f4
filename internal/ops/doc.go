// Package ops is the operations listener: whether the process lives, whether it serves, and what it measures, over HTTP. It holds no
// conversation data, so that others than the agent may reach it: a kubelet, a scraper.
package ops
