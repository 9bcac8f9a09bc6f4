package config

import "os"

// The environment is read here alone, and through kong's env tags.

func lookup(name string) string { return os.Getenv(name) }

func isSet(name string) bool {
	_, ok := os.LookupEnv(name)
	return ok
}

func homeDir() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return home
}
