package people

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestDirectory: names and numbers come from the files, or else from getent. Getent's answer only counts if
// it is what was asked for.
func TestDirectory(t *testing.T) {
	dir := t.TempDir()
	d := Directory{Passwd: filepath.Join(dir, "passwd"), Group: filepath.Join(dir, "group"),
		Getent: func(table, key string) (string, error) {
			return map[string]string{"passwd 9": "eve:x:9:9::/home/eve:\n", "passwd eve": "eve:x:9:9::/home/eve:\n",
				"passwd 1001": "4242:x:1001:1:::\n",
				"passwd 4242": "dan:x:4242:1:::\n", "passwd 6": "a:x:6:6:::\nb:x:6:6:::\n",
				"group far": "far:x:78:dan,eve\n"}[table+" "+key], nil
		}}
	for name, text := range map[string]string{
		d.Passwd: "# users\n:x:70\nann:x:7:7:Ann:/home/ann:/bin/sh\n+::::::\nbob:x:77:7::/:/bin/sh",
		d.Group:  "lab:x:77:ann\nwheel:x:0:\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for uid, want := range map[uint32]string{7: "ann", 77: "bob", 70: "uid:70", 9: "eve", 6: "uid:6", 1001: "4242",
		4242: "dan"} {
		if got := d.Name(uid); got != want {
			t.Errorf("Name(%d) = %q, want %q", uid, got, want)
		}
	}
	for name, want := range map[string]int{"ann": 7, "eve": 9, "uid:70": 70, "4242": -1, "7": -1, "nix": -1, "": -1,
		"uid:x": -1, "-s": -1} {
		if uid, ok := d.UID(name); ok != (want >= 0) || ok && int(uid) != want {
			t.Errorf("UID(%q) = %d, %v, want %d", name, uid, ok, want)
		}
	}
	for name, want := range map[string]int{"lab": 77, "far": 78, "12": 12, "nix": -1} {
		if gid, ok := d.GID(name); ok != (want >= 0) || ok && gid != want {
			t.Errorf("GID(%q) = %d, %v, want %d", name, gid, ok, want)
		}
	}
	for _, tt := range []struct {
		user, group string
		want        bool
	}{{"ann", "lab", true}, {"an", "lab", false}, {"eve", "far", true}, {"bob", "lab", false}, {"ann", "77", false},
		{"ann", "nix", false}} {
		if got := d.Member(tt.user, tt.group); got != tt.want {
			t.Errorf("Member(%s, %s) = %v, want %v", tt.user, tt.group, got, tt.want)
		}
	}
	d.Getent = func(string, string) (string, error) { return "eve:x:9:9:::\n", errors.New("no service") }
	if got := d.Name(9); got != "uid:9" {
		t.Errorf("without a directory service Name(9) = %q", got)
	}
	if home := d.Home(7); home != "/home/ann" {
		t.Errorf("Home of ann = %q", home)
	}
}

// TestPath: programs named getent or id on PATH are not run.
func TestPath(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"id", "getent"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho ann\necho ann:x:61239:1:::\n"),
			0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	if got := System.Name(61239); got != "uid:61239" {
		t.Errorf("Name(61239) = %q, from a program on PATH", got)
	}
}
