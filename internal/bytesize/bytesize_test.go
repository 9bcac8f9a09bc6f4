package bytesize

import "testing"

func TestSize_UnmarshalText_Units(t *testing.T) {
	for text, want := range map[string]Size{"0": 0, "1048576": 1 << 20, "512KiB": 512 << 10, "256 MiB": 256 << 20, "10GiB": 10 << 30} {
		var got Size
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%s: %d, %v", text, got, err)
		}
		var again Size
		if err := again.UnmarshalText([]byte(got.String())); err != nil || again != got {
			t.Errorf("%s is written as %s", text, got)
		}
	}
	for _, text := range []string{"", "-1", "1.5GiB", "10GB", "99999999999TiB", "GiB"} {
		if err := new(Size).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
