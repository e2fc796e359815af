package cluster

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"lockstep/cluster/pass"
)

// maxTokenFile bounds what is read from the file of a token.
const maxTokenFile = 4 << 10

// token reads the token that admits to the run: from LOCKSTEP_TOKEN, or from the file that
// LOCKSTEP_TOKEN_FILE names, "-" for the standard input. The zero token means that none is set. Errors
// are *EnvironmentError and contain nothing of the token.
func (e Environment) token() (pass.Token, error) {
	text, source := e[EnvToken], EnvToken
	if path := e[EnvTokenFile]; path != "" {
		if text != "" {
			return pass.Token{}, environmentErrorf("%s and %s are set; unset one of them", EnvToken,
				EnvTokenFile)
		}
		content, err := readToken(path)
		if err != nil {
			return pass.Token{}, environmentErrorf("%s: %v", EnvTokenFile, err)
		}
		text, source = content, EnvTokenFile
	}
	if text == "" && source == EnvToken {
		return pass.Token{}, nil
	}
	t, err := pass.Parse(text)
	if err != nil {
		return t, environmentErrorf("%s: %v", source, err)
	}
	return t, nil
}

// WithToken returns e with the token itself in place of the standard input, for processes that get a copy
// of e but not of that. Errors are *EnvironmentError.
func (e Environment) WithToken() (Environment, error) {
	if e[EnvTokenFile] != "-" {
		return e, nil
	}
	t, err := e.token()
	if err != nil {
		return nil, err
	}
	return e.With(Environment{EnvToken: t.Reveal(), EnvTokenFile: ""}), nil
}

// readToken returns the only line of a file.
func readToken(path string) (string, error) {
	f := os.Stdin
	if path != "-" {
		var err error
		if f, err = os.Open(path); err != nil {
			return "", err
		}
		defer f.Close()
	}
	text, err := io.ReadAll(io.LimitReader(f, maxTokenFile+1))
	switch {
	case err != nil:
		return "", err
	case len(text) > maxTokenFile:
		return "", fmt.Errorf("%s has more than %d bytes, which is no token", path, maxTokenFile)
	case len(text) == 0:
		return "", errors.New(path + " is empty")
	}
	return strings.TrimSpace(string(text)), nil
}

// needToken is token for processes on several hosts, which cannot meet without one.
func (e Environment) needToken(source string) (pass.Token, error) {
	t, err := e.token()
	if err == nil && t.IsZero() {
		err = environmentErrorf("%s: the processes are on several hosts and need a token, the same for all: "+
			"export %s=$(lockstep token) before they start, or %s=FILE", source, EnvToken, EnvTokenFile)
	}
	return t, err
}

// generation returns how often the job was started before: frames and processes of an earlier start are
// refused. Lockstep's own variable counts first, then torchrun's.
func (e Environment) generation() (uint32, error) {
	for _, name := range []string{EnvGeneration, "TORCHELASTIC_RESTART_COUNT"} {
		if e[name] != "" {
			n, err := e.number("generation", 0, name)
			return uint32(n), err
		}
	}
	return 0, nil
}
