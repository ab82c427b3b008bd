"""A headless Chromium, driven by chromedriver through plain WebDriver: the standard library suffices."""

import base64
import json
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
TAB, ENTER = "\ue004", "\ue007"


class Missing(Exception):
    """There is no browser to drive."""


class Browser:
    """One window. Use it in a `with` statement: it leaves no process behind."""

    def __init__(self):
        chromium = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)
        driver = shutil.which("chromedriver")
        if not chromium or not driver:
            raise Missing("no chromium or no chromedriver")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.base = f"http://127.0.0.1:{port}"
        self.driver = subprocess.Popen([driver, f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.session = None
        try:
            self.await_driver()
            arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                         "--hide-scrollbars", f"--user-data-dir={self.profile.name}"]
            options = {"binary": chromium, "args": arguments}
            wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
            answer = self.send("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
            self.session = f"/session/{answer['sessionId']}"
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.session:
            try:
                self.send("DELETE", self.session)
            except OSError:
                pass
        self.driver.terminate()
        try:
            self.driver.wait(10)
        except subprocess.TimeoutExpired:
            self.driver.kill()
            self.driver.wait()
        self.profile.cleanup()

    def await_driver(self):
        deadline = time.monotonic() + 60
        while True:
            try:
                if self.send("GET", "/status")["ready"]:
                    return
            except OSError:
                pass
            if time.monotonic() > deadline or self.driver.poll() is not None:
                raise RuntimeError("chromedriver does not answer")
            time.sleep(0.1)

    def send(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        # Nothing between us and the driver on this machine.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{method} {path}: {json.load(error)['value']['message']}") from None

    def post(self, path, **body):
        return self.send("POST", self.session + path, body)

    def open(self, url):
        self.post("/url", url=url)

    def run(self, script, *arguments):
        """The value of a JavaScript function's body."""
        return self.post("/execute/sync", script=script, args=list(arguments))

    def devtools(self, command, **parameters):
        return self.post("/goog/cdp/execute", cmd=command, params=parameters)

    def console(self):
        """What was written to the console since the last call: errors of scripts, of the policy, of the network."""
        return [entry["message"] for entry in self.post("/se/log", type="browser")]

    def find(self, selector):
        return self.post("/element", using="css selector", value=selector)[ELEMENT]

    def click(self, selector):
        self.post(f"/element/{self.find(selector)}/click")

    def follow(self, selector, arrived):
        """Clicks what leads to another page, and waits until an element of that page is there and the page is loaded. A click
        returns before the page that it leads to has been loaded, or even asked for."""
        self.run("window.left = true")
        self.click(selector)
        deadline = time.monotonic() + 60
        loaded = ("return window.left === undefined && document.readyState === 'complete' "
                  "&& document.querySelector(arguments[0]) !== null")
        while not self.run(loaded, arrived):
            if time.monotonic() > deadline:
                raise RuntimeError(f"{selector} does not lead to a page with {arrived}")
            time.sleep(0.05)

    def type(self, selector, text):
        self.post(f"/element/{self.find(selector)}/value", text=text)

    def press(self, *keys):
        """Keys, pressed one after the other wherever the focus is."""
        strokes = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.post("/actions", actions=[{"type": "key", "id": "keyboard", "actions": strokes}])

    def choose(self, name, value):
        """An option of a list of the filter."""
        place = self.run("return Array.from(document.querySelector(arguments[0]).options).findIndex("
                         "(option) => option.value === arguments[1])", f"select[name={name}]", value)
        self.click(f"select[name={name}] option:nth-child({place + 1})")

    def screen(self, width, height, dark=False, scripts=True):
        """A screen of this size, as of a phone where it is narrow."""
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                      mobile=width < 600)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.devtools("Emulation.setEmulatedMedia", features=[scheme])
        self.devtools("Emulation.setScriptExecutionDisabled", value=not scripts)

    def picture(self, path):
        path.write_bytes(base64.b64decode(self.send("GET", self.session + "/screenshot")))
