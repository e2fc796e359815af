package clustertest

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// Leaks returns where secrets are: a token of whatever run, or the secret that workers share, in files below
// the folders, programs aside, or in the arguments of a process of this machine. Secrets has further texts to
// look for.
func Leaks(folders []string, secrets ...string) (found []string) {
	token := regexp.MustCompile(`ls1\.[0-9]{8}t[0-9]{4}z-[0-9a-f]{8}\.[\w-]{43}\.[\w-]{22}|` +
		`"secret":"|PRIVATE KEY`)
	look := func(path string) error {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		isThere := token.Match(text)
		for _, s := range secrets {
			isThere = isThere || bytes.Contains(text, []byte(s))
		}
		if isThere {
			found = append(found, path)
		}
		return nil
	}
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			if info, err := entry.Info(); err != nil || info.Mode().Perm()&0o111 != 0 {
				return err
			}
			return look(path)
		})
		if err != nil {
			found = append(found, fmt.Sprintf("%s, which cannot be read: %v", folder, err))
		}
	}
	arguments, _ := filepath.Glob("/proc/[0-9]*/cmdline") // none elsewhere
	for _, path := range arguments {
		_ = look(path) // an error: the process has ended
	}
	return found
}
