"""Chromium without a window, driven over its debugging pipe: no port, no further package."""
import base64
import json
import os
import shutil
import subprocess
import tempfile


class PageError(Exception):
    """The page, or what a test evaluates in it, threw."""


class Browser:
    def __init__(self):
        program = shutil.which("chromium") or shutil.which("google-chrome")
        if program is None:
            raise SystemExit("Chromium is missing: tools/setup page")
        self._home = tempfile.mkdtemp(prefix="forestcoll-page-")
        to_browser, ours_out = os.pipe()
        ours_in, from_browser = os.pipe()

        def wire():  # Chromium reads commands from 3 and writes to 4.
            high = [os.dup(fd) for fd in (to_browser, from_browser)]
            high = [os.dup2(fd, 100 + i, True) for i, fd in enumerate(high)]
            os.dup2(high[0], 3, True)
            os.dup2(high[1], 4, True)

        self._process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--remote-debugging-pipe", "--hide-scrollbars", f"--user-data-dir={self._home}", "about:blank"],
            preexec_fn=wire, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self._out = os.fdopen(ours_out, "wb", buffering=0)
        self._in = os.fdopen(ours_in, "rb")
        self._next = 0
        self._session = None
        self.requests = []  # URLs that pages asked for
        self.faults = []    # exceptions and errors on the console
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._out.close()
        self._process.terminate()
        self._process.wait()
        self._in.close()
        shutil.rmtree(self._home, ignore_errors=True)

    def _receive(self):
        text = bytearray()
        while (byte := self._in.read(1)) != b"\0":
            if not byte:
                raise SystemExit("Chromium ended")
            text += byte
        message = json.loads(text)
        method, params = message.get("method"), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.faults.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.faults.append(params["entry"]["text"])
        return message

    def call(self, method, **params):
        self._next += 1
        message = {"id": self._next, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        self._out.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._next:
                if "error" in answer:
                    raise PageError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def screen(self, width, height=900, dark=False, mobile=False):
        """The window from now on."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=2 if mobile else 1, mobile=mobile)
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=scheme)

    def open(self, path):
        self.requests.clear()
        self.faults.clear()
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        self.evaluate("new Promise((done) => document.readyState === 'complete' ? done()"
                      " : addEventListener('load', done))")

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise PageError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def picture(self, path, top=0, height=None):
        """The page, or a part of its height, as PNG."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": top, "width": size["width"], "height": height or size["height"] - top, "scale": 1}
        answer = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        with open(path, "wb") as file:
            file.write(base64.b64decode(answer["data"]))
