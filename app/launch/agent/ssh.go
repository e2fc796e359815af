package agent

import (
	"context"
	"slices"
	"strings"

	"lockstep/cluster"
)

// Note: one connection
//
// All of a host goes over one ssh: users may have to touch a key for each. So ssh starts a script, which says
// which platform the host has, takes the program if it lacks it, and becomes the agent. Its words begin
// with "lockstep-", because the user's shell may print something before. The console sends the program's
// bytes only when asked, and nothing behind them until the script has said that it has them, so that
// no reader on the host takes more than its part.

// bootstrap is the script. The login shell that receives it in single quotes may be any, so that it is one
// line without a quote of that kind or a mark of exclamation, which csh expands even there.
var bootstrap = oneLine(`
	umask 077;
	` + bootstrapFolder + `
	same() {
		if command -v sha256sum >/dev/null;
		then [ "$(sha256sum <"$1" | cut -c1-64)" = "$h" ];
		else [ "$("$1" agent --hash)" = "$h" ];
		fi;
	};
	fail() { rm -f "$t"; echo lockstep-failed "$f": $*; exit 1; };
	echo;
	u=$(uname -sm) || exit;
	echo lockstep-host "$u";
	read -r h n || exit 0;
	f=$b/$h/lockstep;
	t=$b/$h/new.$$;
	if same "$f" 2>/dev/null && [ -x "$f" ];
	then :;
	else
		echo lockstep-send;
		e=$({ mkdir -p "$b/$h" && head -c "$n" >"$t" && chmod 700 "$t"; } 2>&1) || fail "$e";
		[ -x "$t" ] || fail ` + notExecutable + `;
		same "$t" || fail it has another hash than was sent;
		e=$(mv -f "$t" "$f" 2>&1) || fail "$e";
	fi;
	echo lockstep-here;
	exec "$f" agent`)

// notExecutable is what the script says of a folder from which nothing can be run.
const notExecutable = "its file system is mounted noexec, so XDG_CACHE_HOME must name a folder of another one"

// bootstrapFolder lets b be the folder of programs.
const bootstrapFolder = `
	if [ "$(uname -s)" = Darwin ];
	then b=${HOME:?is not set}/Library/Caches/lockstep/bin;
	else b=${XDG_CACHE_HOME:-${HOME:?is not set}/.cache}/lockstep/bin;
	fi;`

// oneLine returns a script whose commands end in semicolons as one line.
func oneLine(script string) string { return strings.Join(strings.Fields(script), " ") }

// options are those of every ssh: no questions, no host that the user does not know, no wait without end.
func options() []string {
	return []string{"-T", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes", "-o", "ConnectTimeout=8",
		"-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=2", "-o", "ControlMaster=no",
		"-o", "ClearAllForwardings=yes", "-o", "RemoteCommand=none"}
}

// ssh returns the command line that runs a shell command on a host.
func (c Console) ssh(h Host, command string, more ...string) []string {
	return slices.Concat(c.SSH, more, options(), []string{"--", h.Name, command})
}

// environment is that of ssh, which may not open a window for a question.
func (c Console) environment() cluster.Environment {
	return c.Environment.With(cluster.Environment{"SSH_ASKPASS_REQUIRE": "never"})
}

// dialSSH connects to the agent of another machine.
func (c Console) dialSSH(ctx context.Context, h Host) (*Connection, error) {
	p, err := carry(c.ssh(h, "exec /bin/sh -c '"+bootstrap+"'"), c.environment())
	if err != nil {
		return nil, &HostError{Host: h.Name, Text: "ssh does not start on this machine: install OpenSSH's " +
			"client, or name one with --ssh", Err: err}
	}
	l := newLine(p.out, p.in)
	hash, err := c.install(ctx, h, p, l)
	if err != nil {
		l.close()
		p.kill()
		p.close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, err
	}
	return c.greet(ctx, h, p, l, hash)
}
