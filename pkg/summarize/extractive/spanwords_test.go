package extractive

import "testing"

func TestSaysRule(t *testing.T) {
	for sentence, want := range map[string]bool{
		"Never push to main.": true, "You MUST ask first": true, "Please don't edit vendor/": true, "please don’t": true, "Do not commit.": true,
		"Make sure it builds": true, "from now on use tabs": true, "Use only tabs": true, "We should not use it": true,
		"Du darfst niemals löschen": true, "N'effacez jamais": true, "必须先运行测试": true, "絶対に消さないで": true, "никогда не удаляй": true,
		"i don't understand": false, "I do not want that": false, "we really don't know": false, "Fix the bug": false, "": false,
		"mustard and nevertheless": false, "现在运行测试": false, "they don't work": false, "the onlyfans of now": false,
	} {
		if got := saysRule(sentence); got != want {
			t.Errorf("%q: %v", sentence, got)
		}
	}
}
