"""An interactive shell inside tmux, with wick_scripted_program as its `wick`, and pictures of its screen."""
import html
import os
import subprocess
import time

PROMPT = "u@host:~$ "
RC = {"bash": ("--rcfile {rc} -i", "PS1='" + PROMPT + "'\nset +o history\nset -o history\n{mode}\n{script}\n", "set -o vi", "set -o emacs"),
      "zsh": ("-i", "PS1='" + PROMPT + "'\nunsetopt PROMPT_SP\n{mode}\n{script}\n", "bindkey -v", "bindkey -e"),
      "fish": ("-i", "function fish_prompt; echo -n '" + PROMPT + "'; end\nfunction fish_greeting; end\n{mode}\n{script}\n",
               "fish_vi_key_bindings\nfunction fish_mode_prompt; end", "fish_default_key_bindings")}


class Screen:
    """100 columns, 24 lines. The working directory is `home.work`."""

    def __init__(self, home, shell, mode):
        self.home, self.shell = home, shell
        (home.folder / "bin").mkdir(exist_ok=True)
        link = home.folder / "bin/wick"
        link.unlink(missing_ok=True)
        link.symlink_to(home.program)
        arguments, text, vi, emacs = RC[shell]
        script = home.wick("init", shell).stdout.decode()
        rc = {"bash": home.home / "bashrc", "zsh": home.home / ".zshrc", "fish": home.home / ".config/fish/config.fish"}[shell]
        rc.parent.mkdir(parents=True, exist_ok=True)
        rc.write_text(text.replace("{mode}", vi if mode == "vi" else emacs).replace("{script}", script))
        self.socket = str(home.folder / "tmux")
        self.environment = {**home.environment, "PATH": f"{home.folder}/bin:{os.environ['PATH']}", "TERM": "screen", "ZDOTDIR": str(home.home)}
        command = f"exec {shell} {arguments.format(rc=rc)}"
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "24", "-c", str(home.work), command)
        self.until(lambda text: PROMPT.strip() in text)
        time.sleep(0.3)

    def tmux(self, *words):
        return subprocess.run(["tmux", "-S", self.socket, *words], env=self.environment, capture_output=True, text=True, timeout=30).stdout

    def text(self):
        return self.tmux("capture-pane", "-p").rstrip("\n")

    def line(self):
        """The text behind the last prompt."""
        return self.text().rsplit(PROMPT.strip(), 1)[-1].strip()

    def until(self, holds, seconds=20, every=0.05):
        end = time.monotonic() + seconds
        while not holds(self.text()):
            if time.monotonic() > end:
                raise AssertionError(f"{self.shell}: did not come:\n{self.text()}")
            time.sleep(every)

    def ends(self, text, **options):
        """Until the screen ends with the text, blanks aside."""
        self.until(lambda seen: ("\n" + seen.rstrip()).endswith(text.rstrip()), **options)

    def type(self, text):
        self.tmux("send-keys", "-l", text)
        self.until(lambda seen: seen.rstrip().endswith(text.strip()))

    def say(self, text):
        self.tmux("send-keys", "-l", text)
        self.key("Enter")

    def key(self, name):
        self.tmux("send-keys", name)

    def cursor(self):
        return self.tmux("display-message", "-p", "#{cursor_x}").strip()

    def clear(self):
        self.key("C-c")
        time.sleep(0.3)
        self.tmux("send-keys", "-R")
        self.key("Enter")
        self.until(lambda _: self.line() == "")

    def status(self):
        """Of the last command; the screen is cleared."""
        self.ends(PROMPT)
        self.say("echo is=$status." if self.shell == "fish" else "echo is=$?.")
        self.until(lambda text: "\nis=" in text)
        status = int(self.text().rsplit("\nis=", 1)[1].split(".")[0])
        self.ends(PROMPT)
        self.tmux("send-keys", "-R")
        self.key("Enter")
        self.until(lambda _: self.line() == "")
        return status

    def end(self):
        self.tmux("kill-server")


def check(condition, text):
    if not condition:
        raise AssertionError(text)


def svg(text, columns=100):
    """A picture of a terminal with this text."""
    lines = text.rstrip("\n").split("\n")
    rows = [f'<text x="16" y="{34 + 18 * i}" xml:space="preserve">{html.escape(line)}</text>' for i, line in enumerate(lines)]
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{32 + columns * 39 // 5}" height="{34 + 18 * len(lines)}" '
            'font-family="monospace" font-size="13" fill="#e6e6e6">\n<rect width="100%" height="100%" rx="8" fill="#1e1e2e"/>\n'
            + "\n".join(rows) + "\n</svg>\n")
