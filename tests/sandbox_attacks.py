"""What code might try in a sandbox, and what must come of it.

`{secret}` is a file of this user's outside, `{port}` a port that is listened at on this machine, `{parent}` the
process that runs the tests.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ATTACKS", "Attack"]


@dataclass(frozen=True)
class Attack:
    """Code, and how it must end.

    Attributes:
        name: what it tries.
        code: Python.
        ends: the ways of ending that are right.
        never: what must not be in its output; the secret's content never may.
        quick: whether the light suite runs it.
    """

    name: str
    code: str
    ends: tuple[str, ...] = ("done", "error")
    never: tuple[str, ...] = ("ESCAPED",)
    quick: bool = False


_TRIED = """
def tried(what):
    try:
        value = what()
    except BaseException as error:
        print("refused", type(error).__name__)
    else:
        print("ESCAPED", str(value)[:200])
"""

_READS = [
    ("the secret", "open('{secret}').read()"),
    ("passwords", "open('/etc/shadow').read()"),
    ("the home folder", "os.listdir(os.path.dirname('{secret}'))"),
    ("keys", "os.listdir(os.path.dirname(os.path.dirname('{secret}')) + '/.ssh')"),
    ("the session's folder by its own name", "os.listdir('{root}')"),
    ("the first process's environment", "open('/proc/{parent}/environ').read()"),
    ("the first process's files", "os.listdir('/proc/{parent}/cwd/')"),
    ("the kernel's memory", "open('/dev/mem', 'rb').read(1)"),
    ("a disk", "open('/dev/vda', 'rb').read(1)"),
]
_WRITES = [
    ("to the root", "open('/escaped', 'w')"),
    ("to the system", "open('/usr/escaped', 'w')"),
    ("to the secret", "open('{secret}', 'w')"),
    ("to the packages", "open(np.__file__, 'a')"),
    ("to what was given", "open('/p2/in/bindings.json', 'w')"),
    ("the child's own program", "open('/p2/in/child.py', 'a')"),
    ("to the kernel's settings", "open('/proc/sys/vm/drop_caches', 'w').write('3')"),
    ("to the kernel's objects", "open('/sys/kernel/mm/ksm/run', 'w').write('1')"),
    (
        "a device",
        "os.mknod('/p2/work/disk', 0o060666, os.makedev(254, 0)) or open('/p2/work/disk', 'rb').read(1)",
    ),
    ("the given modes", "os.chmod('/p2/in/bindings.json', 0o666)"),
    ("an array that was given", "given.__setitem__(0, 1)"),
]
_CALLS = [
    ("a server here", "__import__('socket').create_connection(('127.0.0.1', {port}), 2)"),
    ("names", "__import__('socket').getaddrinfo('example.org', 80)"),
    ("an address", "__import__('socket').create_connection(('1.1.1.1', 53), 2)"),
    ("an abstract socket", "(s := __import__('socket').socket(1, 1)).connect('\\0{abstract}')"),
    ("a raw socket", "__import__('socket').socket(17, 3, 768)"),
]
_POWERS = [
    ("mounting", "ctypes.CDLL(None).mount(b'none', b'/tmp', b'tmpfs', 0, None) and [][0]"),
    (
        "a new namespace with powers",
        "subprocess.run(['unshare', '-Urm', 'mount', '-t', 'tmpfs', 'x', '/usr'], check=True)",
    ),
    ("being another user", "os.setuid(12345)"),
    ("more memory", "resource.setrlimit(resource.RLIMIT_AS, (-1, -1))"),
    ("the clock", "time.clock_settime(0, 0)"),
    ("the host's name", "socket.sethostname('escaped')"),
    ("tracing the parent", "[][ctypes.CDLL(None).ptrace(16, {parent}, 0, 0)]"),
    ("signalling the parent", "os.kill({parent}, 9)"),
    ("leaving by chroot", "os.chroot('/tmp')"),
]


def _all_tried(pairs: list[tuple[str, str]], imports: str) -> str:
    lines = [f"print({name!r}); tried(lambda: {code})" for name, code in pairs]
    return f"import {imports}\n{_TRIED}\n" + "\n".join(lines)


ATTACKS = (
    Attack("reading outside", _all_tried(_READS, "os"), quick=True),
    Attack("writing outside", _all_tried(_WRITES, "os"), quick=True),
    Attack("the network", _all_tried(_CALLS, "os"), quick=True),
    Attack(
        "more powers",
        _all_tried(_POWERS, "os, ctypes, subprocess, resource, time, socket"),
        ends=("done", "error", "killed"),
    ),
    Attack(
        "the environment",
        "import os\nfor k, v in os.environ.items(): print(k, v)",
        never=("SECRET_IN_ENV",),
    ),
    Attack(
        "a fork bomb",
        "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
        ("processes", "memory", "killed", "time", "cpu"),
    ),
    Attack(
        "many threads",
        "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(99,)).start()",
        ("error", "memory", "processes", "killed"),
    ),
    Attack(
        "daemons",
        "import os\nfor _ in range(3):\n    if os.fork() == 0:\n        os.setsid()\n        if os.fork(): os._exit(0)\n        while True: pass\nos._exit(0)",
        ("killed",),
    ),
    Attack("50 GB of bytes", "x = bytearray(50 * 10**9)", ("memory", "cpu", "time"), quick=True),
    Attack("50 GB of numpy", "x = np.ones(50 * 10**9 // 8)", ("memory", "error")),
    Attack(
        "50 GB mapped",
        "import mmap\nm = mmap.mmap(-1, 50 * 10**9)\nfor n in range(0, len(m), 4096): m[n] = 1",
        ("error", "memory"),
    ),
    Attack(
        "memory bit by bit",
        "x = []\nwhile True: x.append(bytearray(10**7))",
        ("memory", "cpu", "time"),
    ),
    Attack(
        "memory in many processes",
        "import os, time\nfor _ in range(20):\n    if os.fork() == 0:\n        x = bytearray(200 * 10**6)\n        time.sleep(60)\ntime.sleep(60)",
        ("memory", "cpu", "time"),
    ),
    Attack(
        "memory in files",
        "for n in range(10**6): open(f'/dev/shm/{n}', 'wb').write(b'x' * 10**7)",
        ("disk", "error"),
    ),
    Attack(
        "output without an end",
        "while True: print('x' * 10**6)",
        ("output", "cpu", "time"),
        quick=True,
    ),
    Attack(
        "errors without an end",
        "import sys\nwhile True: sys.stderr.write('y' * 10**6)",
        ("output", "cpu", "time"),
    ),
    Attack(
        "output past print",
        "import os\nwhile True: os.write(1, b'z' * 65536)",
        ("output", "cpu", "time"),
    ),
    Attack(
        "answers without an end",
        "import os\nwhile True:\n    for fd in range(3, 20):\n        try: os.write(fd, b'{' * 65536)\n        except OSError: pass",
        ("reply", "killed", "cpu", "time"),
    ),
    Attack(
        "a forged answer",
        "import os, json, struct\nd = json.dumps({'error': None, 'values': [{'name': 'x', 'form': 'value', 'file': '../../etc/passwd'}], 'refused': [], 'written': []}).encode()\nfor fd in range(3, 20):\n    try: os.write(fd, struct.pack('>I', len(d)) + d)\n    except OSError: pass",
        ("done", "reply", "killed", "error"),
    ),
    Attack(
        "a large file",
        "f = open('big', 'wb')\nwhile True: f.write(b'x' * 10**7)",
        ("error", "disk", "killed"),
    ),
    Attack(
        "a sparse file",
        "f = open('sparse', 'wb'); f.seek(10**12); f.write(b'x')",
        ("done", "error", "killed"),
    ),
    Attack(
        "many files",
        "for n in range(10**6): open(f'f{n}', 'w').write('x')",
        ("disk", "cpu", "time"),
    ),
    Attack(
        "deep folders",
        "import os\nwhile True: os.mkdir('d'); os.chdir('d')",
        ("disk", "error", "cpu", "time"),
    ),
    Attack("sleeping", "import time\ntime.sleep(10**6)", ("time",)),
    Attack("an endless loop", "while True: pass", ("cpu", "time"), quick=True),
    Attack("a loop in C", "import re\nre.match(r'(a+)+$', 'a' * 60 + 'b')", ("cpu", "time")),
    Attack(
        "deaf to signals",
        "import signal\nfor n in range(1, 65):\n    try: signal.signal(n, signal.SIG_IGN)\n    except (OSError, ValueError): pass\nwhile True:\n    try:\n        while True: pass\n    except BaseException: pass",
        ("cpu", "time"),
    ),
    Attack(
        "stopping itself",
        "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
        ("time", "done"),
    ),
    Attack(
        "signals to all",
        "import os, signal\nos.kill(-1, signal.SIGKILL)",
        ("killed", "done", "error"),
    ),
    Attack(
        "signals to the first",
        "import os, signal\nos.kill(1, signal.SIGKILL)",
        ("killed", "done", "error"),
    ),
    Attack("closing everything", "import os\nos.closerange(0, 256)", ("killed",)),
    Attack("leaving at once", "import os\nos._exit(0)", ("killed",), quick=True),
    Attack("leaving politely", "raise SystemExit('bye')", ("error",)),
    Attack(
        "no more recursion limit",
        "import sys\nsys.setrecursionlimit(10**9)\ndef f(): f()\nf()",
        ("killed", "error", "memory", "cpu"),
    ),
    Attack(
        "its own traceback",
        "class E(Exception):\n    def __str__(self):\n        raise E\nraise E",
        ("error",),
    ),
    Attack(
        "an endless repr",
        "class E(Exception):\n    def __str__(self):\n        while True: pass\nraise E",
        ("cpu", "time"),
    ),
    Attack(
        "other builtins",
        "import builtins, json\nbuiltins.print = builtins.len = builtins.open = None\njson.dumps = lambda *a, **k: 1 / 0\nnp.save = None",
        ("error", "killed", "done"),
    ),
    Attack(
        "tracing", "import sys\nsys.settrace(lambda *a: 1 / 0)\nx = 1", ("error", "done", "killed")
    ),
    Attack(
        "what a pickle does",
        "class P:\n    def __reduce__(self): return (print, ('ESCAPED',))\nresult = P()\npublish('a', np.array([P()], dtype=object))",
    ),
    Attack(
        "a pickle as an array",
        "import pickle\nclass P:\n    def __reduce__(self): return (__import__('os').system, ('touch {secret}.touched',))\na = np.empty(1, object); a[0] = P()\nnp.save = lambda path, *b, **k: open(path, 'wb').write(open('x.npy', 'rb').read())\nnp.lib.format.write_array(open('x.npy', 'wb'), a)\nresult = np.zeros(3)",
    ),
    Attack(
        "an array larger than its file",
        "import io\nreal = np.save\ndef save(path, *a, **k):\n    b = io.BytesIO(); np.lib.format.write_array_header_1_0(b, {'descr': '<f8', 'fortran_order': False, 'shape': (10**10,)}); open(path, 'wb').write(b.getvalue())\nnp.save = save\nresult = np.zeros(3)",
    ),
    Attack("nesting without an end", "x = []\nfor _ in range(10**5): x = [x]\nresult = x"),
    Attack("a list that holds itself", "x = []; x.append(x); result = x"),
    Attack("a large answer", "result = 'x' * 10**8", ("done", "error", "killed", "reply")),
    Attack("a large traceback", "raise ValueError('x' * 10**7)", ("error",)),
    Attack(
        "a link as a picture",
        "import os\nos.symlink('{secret}', 'a.png'); os.symlink('/etc/passwd', 'b.png')",
    ),
    Attack(
        "a link as what it leaves",
        "import os\nfor n in range(9):\n    for k in ('json', 'npy', 'png'): os.symlink('{secret}', f'/p2/out/{n}.{k}')\nresult = 1",
    ),
    Attack("a pipe as a picture", "import os\nos.mkfifo('a.png')"),
    Attack("a folder as a picture", "import os\nos.mkdir('a.png')"),
    Attack(
        "a picture that unpacks to gigabytes",
        "import struct, zlib\ndef c(k, d): return struct.pack('>I', len(d)) + k + d + struct.pack('>I', zlib.crc32(k + d))\nopen('a.png', 'wb').write(b'\\x89PNG\\r\\n\\x1a\\n' + c(b'IHDR', struct.pack('>IIBBBBB', 60000, 60000, 8, 2, 0, 0, 0)) + c(b'IDAT', zlib.compress(bytes(10**7))) + c(b'IEND', b''))",
    ),
    Attack("no picture", "open('a.png', 'w').write('<svg/>')"),
    Attack(
        "folders that cannot be removed",
        "import os\nos.makedirs('a/b'); open('a/b/c', 'w'); os.chmod('a/b', 0); os.chmod('a', 0)",
    ),
    Attack(
        "names that hide",
        "open('a\\n\\u202e.png', 'wb').write(b'x'); open('-rf.png', 'wb'); open('..png', 'wb')",
    ),
    Attack(
        "other bindings",
        "try: print(other)\nexcept NameError: print('none')\nimport os\nprint(sorted(os.listdir('/p2/in')))",
        never=("9876.5",),
    ),
)
"""All of them."""
