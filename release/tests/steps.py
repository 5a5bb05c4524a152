"""What the tests of packages share: commands in a fresh environment without Rust, printed with their output."""
import json, os, pathlib, pty, resource, select, shutil, signal, subprocess, sys, tempfile, time

RELEASE = pathlib.Path(__file__).resolve().parent.parent
ROOT = RELEASE.parent
OUT = RELEASE / "out"
EXAMPLE = ["run", str(ROOT / "examples/notify.ilo"), "--tools", str(ROOT / "examples/mocks.json"),
           "--arg", "user-id=u1", "--arg", "message=Hello"]
OUTCOME = '{"status":"ok","value":null}\n'


class Failed(SystemExit):
    """A step did not do what it must."""


def fail(why):
    print(f"FAILED: {why}")
    raise Failed(1)


def folder():
    """A fresh folder; its names have no symlinks, so that messages show them as they are."""
    return pathlib.Path(tempfile.mkdtemp(prefix="ilo-package-")).resolve()


def environment(home, path=(), **more):
    """Few variables, as a client starts its servers, and no Rust on PATH."""
    folders = [*map(str, path), "/usr/local/bin", "/usr/bin", "/bin"]
    kept = {name: os.environ[name] for name in ("PIP_CERT", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS") if name in os.environ}
    env = {"HOME": str(home), "PATH": os.pathsep.join(folders), **kept, **more}
    if shutil.which("cargo", path=env["PATH"]):
        fail(f"cargo is on {env['PATH']}, so nothing shows that it is not needed")
    return env


def shown(command):
    return " ".join(map(str, command)).replace(str(ROOT) + "/", "")


def processor():
    """Seconds of processor time of all commands that have ended. Unlike the time, it is the same on a busy machine."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(command, env, cwd="/", code=0, quiet=False, limit=600):
    """Runs a command, prints it with its output and time, and fails unless it ends with this code."""
    begun, used = time.monotonic(), processor()
    done = subprocess.run(list(map(str, command)), env=env, cwd=cwd, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=limit)
    seconds = time.monotonic() - begun
    print(f"$ {shown(command)}   [{seconds:.2f} s, {processor() - used:.2f} s of processor time, exit code {done.returncode}]")
    if not quiet or done.returncode != code:
        print("".join(f"    {line}\n" for line in (done.stdout + done.stderr).splitlines()[-15:]), end="")
    if done.returncode != code:
        fail(f"expected exit code {code}")
    return done


def expect(found, wanted, what):
    if found != wanted:
        fail(f"{what}: expected {wanted!r}, found {found!r}")


class Client:
    """A client of the protocol over standard streams."""

    def __init__(self, command, env, cwd="/"):
        self.begun = time.monotonic()
        self.process = subprocess.Popen(list(map(str, command)), env=env, cwd=cwd, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.last = 0

    def ask(self, method, params):
        self.last += 1
        self.say({"id": self.last, "method": method, "params": params})
        for line in self.process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self.last:
                return answer["result"]
        fail(f"no answer to {method}: {self.process.stderr.read()}")

    def say(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def open(self):
        """Begins and lists the tools. Returns the seconds since the start, and the names of the tools."""
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                "clientInfo": {"name": "test", "version": "1"}})
        self.say({"method": "notifications/initialized"})
        names = [tool["name"] for tool in self.ask("tools/list", {})["tools"]]
        return time.monotonic() - self.begun, names

    def close(self):
        """Closes the input, as a client that leaves. Returns the exit code."""
        self.process.stdin.close()
        return self.process.wait(30)


def serves(command, env, cwd="/"):
    """Lists the tools of a server, and has it run a program."""
    used = processor()
    client = Client(command, env, cwd)
    seconds, names = client.open()
    expect(names, ["run_program", "check_program", "find_tools"], "the tools of serve")
    source = {"function": "f", "input": {}, "output": "any", "steps": [{"return": 42}]}
    result = client.ask("tools/call", {"name": "run_program", "arguments": {"source": json.dumps(source)}})
    expect(result["structuredContent"]["outcome"], {"status": "ok", "value": 42}, "the outcome of a program")
    expect(client.close(), 0, "the exit code after the client has left")
    used = processor() - used
    print(f"$ {shown(command)}   [{seconds:.2f} s to tools/list, {used:.2f} s of processor time in all: {', '.join(names)}]")


# A run that is interrupted while it pays: what it has reserved is released, once.
PURCHASE = {"function": "buy", "input": {}, "output": "any", "steps": [
    {"let": "number", "call": "reserve", "args": {}, "rollback": {"call": "release", "args": {}}},
    {"let": "paid", "call": "pay", "args": {}}, {"return": "$paid"}]}


def purchase(place):
    """Writes the program and its tools, commands that write a log. Returns the arguments that run it."""
    place.mkdir()
    command = lambda line: {"command": ["sh", "-c", f"cat > /dev/null; {line}"]}
    tools = {"reserve": command("echo reserve >> log; echo 1"), "release": command("echo release >> log; echo null"),
             "pay": command("echo pay >> log; touch begun; while [ ! -e go ]; do sleep 0.05; done; echo 7")}
    (place / "tools.json").write_text(json.dumps({"tools": tools}))
    (place / "buy.json").write_text(json.dumps(PURCHASE))
    return ["run", str(place / "buy.json"), "--tools", str(place / "tools.json")]


def begun(place, limit=60):
    end = time.monotonic() + limit
    while not (place / "begun").exists():
        if time.monotonic() > end:
            fail("the run has not begun")
        time.sleep(0.02)


def judged(name, how, place, code, output, codes):
    log = (place / "log").read_text().split()
    print(f"{name}, {how}: exit code {code}, calls {', '.join(log)}")
    print("".join(f"    {line}\n" for line in output.splitlines()[-4:]), end="")
    expect(log, ["reserve", "pay", "release"], "the calls")
    if code not in codes:
        fail(f"exit code {code}")


def on_terminal(name, command, env, codes=(130,)):
    """Presses Ctrl-C on a terminal, which sends a signal to every process of the group."""
    place = folder() / "run"
    arguments = [*map(str, command), *purchase(place)]
    child, terminal = pty.fork()
    if child == 0:
        os.chdir("/")
        os.execvpe(arguments[0], arguments, env)
    begun(place)
    os.write(terminal, b"\x03")
    time.sleep(0.5)
    (place / "go").touch()
    output = b""
    while True:
        ready, _, _ = select.select([terminal], [], [], 60)
        try:
            piece = os.read(terminal, 4096) if ready else b""
        except OSError:
            piece = b""
        if not piece:
            break
        output += piece
    _, status = os.waitpid(child, 0)
    judged(name, "Ctrl-C on a terminal", place, os.waitstatus_to_exitcode(status), output.decode(), codes)


def with_signal(name, command, env, number=signal.SIGTERM, codes=(130,)):
    """Sends a signal to the launcher alone, as a supervisor does."""
    place = folder() / "run"
    arguments = [*map(str, command), *purchase(place)]
    process = subprocess.Popen(arguments, env=env, cwd="/", text=True, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    begun(place)
    process.send_signal(number)
    time.sleep(0.5)
    (place / "go").touch()
    output, _ = process.communicate(timeout=60)
    judged(name, f"{number.name} to the launcher", place, process.returncode, output, codes)


def processes(word):
    """The processes whose command line has this word."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if word.encode() in line:
                found.append(int(entry.name))
    return found
