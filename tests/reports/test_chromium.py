"""What a browser makes of the page."""

import re
import shutil
import subprocess

import pytest

from reports.formats import html

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--enable-logging=stderr",
)
PHONE_WIDTH = 390
# A window cannot be narrower than 500 pixels, a frame can. The frame has no origin of its own, hence the message.
FRAME = f"""<!doctype html><title>waiting</title>
<script>onmessage=event=>{{document.title=event.data}}</script>
<iframe src="copy.html" style="border:0;width:{PHONE_WIDTH}px;height:900px"></iframe>"""
MEASURE = """<script>
const all=[...document.querySelectorAll("details")];for(const fold of all)fold.open=true;
const page=document.documentElement;
parent.postMessage("width "+page.scrollWidth+" of "+page.clientWidth,"*")</script>"""

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here; apt-get install chromium")


def browse(folder, page):
    """Return the DOM after loading, and what the console said."""
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=3000", "--dump-dom"]
    done = subprocess.run(
        [*command, f"file://{page}"], capture_output=True, text=True, timeout=120, check=True, errors="replace"
    )
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


@pytest.fixture(scope="module")
def page(report):
    return html.render(report)


def test_the_console_is_silent_and_the_search_appears(page, tmp_path):
    (tmp_path / "report.html").write_text(page)
    dom, console = browse(tmp_path, tmp_path / "report.html")
    # The policy forbids every request, so that a forbidden one would be a message here.
    assert console == []
    assert '<label class="find small muted">' in dom


def test_hostile_names_run_nothing(hostile_report, tmp_path):
    (tmp_path / "report.html").write_text(html.render(hostile_report))
    _, console = browse(tmp_path, tmp_path / "report.html")
    assert console == []


@pytest.mark.parametrize("kind", ["report", "hostile_report", "empty_report"])
def test_nothing_sticks_out_on_a_phone(kind, request, tmp_path):
    page = html.render(request.getfixturevalue(kind))
    open_to_scripts = re.sub(r"<meta http-equiv=[^>]*>", "", page)
    (tmp_path / "copy.html").write_text(open_to_scripts.replace("</body>", f"{MEASURE}</body>"))
    (tmp_path / "frame.html").write_text(FRAME)
    dom, _ = browse(tmp_path, tmp_path / "frame.html")
    assert re.search(r"<title>(.*?)</title>", dom)[1] == f"width {PHONE_WIDTH} of {PHONE_WIDTH}"
