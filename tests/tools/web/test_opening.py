"""What an address leads to: links that are files, answers that are, and pages that are numbered."""

import httpx
import pytest

from agent_world.tools.web.document import read_document
from agent_world.tools.web.extract import ENDINGS, NoFile, download_tables
from agent_world.tools.web.fetch import Received
from agent_world.tools.web.file_kind import ending_of, name_of
from agent_world.tools.web.opening import looks_like_a_file
from agent_world.tools.web.paging import numbered_next


def received(address: str, kind: str, body: bytes = b"", **headers: str) -> Received:
    given = {"content-type": kind} | {name.replace("_", "-"): value for name, value in headers.items()}
    return Received(address, 200, httpx.Headers(given), body)


@pytest.mark.parametrize(
    ("address", "text"),
    [
        *(("/a.csv", ""), ("/export?format=csv", ""), ("/api/rows?out=JSON", ""), ("/x", "Download data")),
        *(("/x", "Export as CSV"), ("/x", "CSV"), ("/x", "JSON (2 MB)"), ("/x", "Get the data set")),
    ],
)
def test_links_to_files_are_known_by_address_or_text(address: str, text: str) -> None:
    assert looks_like_a_file(f"http://x.test{address}", text)


@pytest.mark.parametrize(
    ("address", "text"),
    [
        ("/a", "Towns"),
        ("/a?q=csv+files", "CSV files and their history"),
        ("/b", "Download Python 3.12"),
        ("/c", "More"),
    ],
)
def test_other_links_are_pages(address: str, text: str) -> None:
    assert not looks_like_a_file(f"http://x.test{address}", text)


@pytest.mark.parametrize(
    ("found", "ending"),
    [
        (received("http://x/e?format=csv", "application/octet-stream", b"a,b\n1,2\n"), ".csv"),
        (received("http://x/e", "text/plain", b"a;b\n1;2\n"), ".csv"),
        (received("http://x/e", "text/plain", b"Once upon a time,\nthere was a file.\nIt had no table.\n"), None),
        (received("http://x/e", "text/plain", b'{"a": 1}\n{"a": 2}\n'), ".jsonl"),
        (received("http://x/e", "", b'[{"a": 1}]'), ".json"),
        (received("http://x/e", "application/vnd.ms-excel", b"a,b\n1,2\n"), ".csv"),
        (received("http://x/e", "application/force-download", b"PK\x03\x04..xl/workbook.xml"), ".xlsx"),
        (received("http://x/e", "application/force-download", b"PK\x03\x04..towns.csv"), ".zip"),
        (received("http://x/e", "application/octet-stream", b"%PDF-1.7"), ".pdf"),
        (received("http://x/e", "image/png", b"a,b\n1,2\n"), None),
        (received("http://x/e", "x/y", content_disposition="attachment; filename=t.xlsx"), ".xlsx"),
    ],
)
def test_the_kind_of_a_file_is_found_out_from_all_that_is_known(found: Received, ending: str | None) -> None:
    assert ending_of(found, ENDINGS) == ending


def test_a_file_is_called_as_its_server_calls_it_else_by_what_tells_something() -> None:
    named = received("http://x/e", "text/csv", content_disposition="attachment; filename*=UTF-8''Gr%C3%B6%C3%9Fen.csv")
    assert name_of(named) == "Größen"
    assert name_of(received("http://x/towns/export?format=csv", "text/csv")) == "towns"
    assert name_of(received("http://x/export", "text/csv")) == "table"


def test_a_page_in_place_of_a_file_is_told_apart_from_damage() -> None:
    with pytest.raises(NoFile):
        download_tables(received("http://x/towns.csv", "text/html", b"<p>Log in"))


@pytest.mark.parametrize(
    ("address", "links", "following"),
    [
        ("/l", {"/l?page=1": "1", "/l?page=2": "2", "/l?page=3": "3"}, None),
        ("/l", {"/l?page=2": "2", "/l?page=3": "3"}, "/l?page=2"),
        ("/l?page=2", {"/l": "1", "/l?page=3": "3", "/l?page=4": "4"}, "/l?page=3"),
        ("/l?page=3", {"/l?page=1": "1", "/l?page=2": "2"}, None),
        ("/l?n=5&page=9", {"/l?n=5&page=8": "8", "/l?n=5&page=10": "10"}, "/l?n=5&page=10"),
        ("/blog", {"/blog/page/2": "2", "/blog/page/7": "7"}, "/blog/page/2"),
        ("/blog/page/2", {"/blog": "1", "/blog/page/3": "3"}, "/blog/page/3"),
        ("/days", {"/days/1": "1", "/days/2": "2"}, None),
        ("/years", {"/years/1999": "1999", "/years/2000": "2000"}, None),
        ("/l", {"/other?page=2": "2"}, None),
    ],
)
def test_pages_that_are_numbered_alone_go_on_by_their_numbers(
    address: str, links: dict[str, str], following: str | None
) -> None:
    here = {f"http://x.test{target}": text for target, text in links.items()}
    assert numbered_next(f"http://x.test{address}", here) == (following and f"http://x.test{following}")


@pytest.mark.parametrize(
    "link",
    [
        *("<a href=/b>Weiter »</a>", "<a href=/b>Page suivante</a>", "<a href=/b>次へ</a>", "<a href=/b>Далее →</a>"),
        *("<a href=/b>›</a>", "<a href=/b aria-label='Next page'>&gt;</a>", "<a rel='nofollow next' href=/b>2</a>"),
    ],
)
def test_the_next_page_is_known_in_many_languages(link: str) -> None:
    page = read_document(f"<html>{link}<a href=/c>Weiter oben</a></html>", "", received("http://x.test/a", "text/html"))
    assert [(k.address, k.kind) for k in page.links] == [("http://x.test/b", "next"), ("http://x.test/c", "page")]
