"""How listings go on: links to a next page, by their words or their numbers, and buttons that bring more rows."""

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from lxml.html import HtmlElement

NEXT_WORDS = frozenset((
    "next", "next page", "next results", "older", "older posts", "older entries", "weiter", "nächste", "nächste seite",
    "suivant", "suivante", "page suivante", "siguiente", "página siguiente", "próximo", "próxima", "próxima página",
    "seguinte", "avanti", "successivo", "successiva", "pagina successiva", "volgende", "volgende pagina", "nästa",
    "nästa sida", "neste", "neste side", "næste", "næste side", "seuraava", "następna", "następna strona", "dalej",
    "další", "ďalšia", "következő", "următoarea", "sonraki", "sonraki sayfa", "επόμενη", "επόμενο", "далее", "вперёд",
    "вперед", "следующая", "следующая страница", "наступна", "далі", "следваща", "التالي", "הבא", "अगला",
    "次へ", "次", "次のページ", "下一页", "下一頁", "下页", "后页", "다음", "다음 페이지",
    "tiếp", "trang sau", "ถัดไป", "berikutnya", "selanjutnya",
))  # fmt: skip
"""Texts of a link to the next page of a listing, where the page does not say `rel=next`; arrows around them aside."""
ARROWS = "›»→>⟩▶ \u00a0"
MORE_WORDS = (
    "load more", "show more", "more results", "view more", "see more", "load next", "more", "mehr laden",
    "mehr anzeigen", "weitere laden", "weitere anzeigen", "charger plus", "afficher plus", "voir plus", "cargar más",
    "mostrar más", "ver más", "carregar mais", "mostrar mais", "ver mais", "carica altri", "mostra altri",
    "meer laden", "meer tonen", "toon meer", "visa fler", "ladda fler", "vis flere", "näytä lisää", "pokaż więcej",
    "załaduj więcej", "načíst další", "zobrazit další", "показать ещё", "показать еще", "загрузить ещё",
    "загрузить еще", "ещё", "показати ще", "daha fazla", "περισσότερα", "もっと見る", "さらに表示",
    "加载更多", "更多", "載入更多", "더 보기", "더보기", "تحميل المزيد", "xem thêm",
)  # fmt: skip
"""Text of a button that adds rows to the page; those of several words may go on (`Load more rows`)."""
MOST_NUMBER = 9999


def says_next(element: HtmlElement) -> bool:
    """By its relation, its text, or what it is called for those who cannot see."""
    if "next" in (element.get("rel") or "").lower().split():
        return True
    texts = (" ".join(element.text_content().split()), element.get("aria-label") or "", element.get("title") or "")
    return any(_is_next(text.lower()) for text in texts)


def _is_next(text: str) -> bool:
    bare = text.strip(ARROWS)
    return bare in NEXT_WORDS if bare else any(sign in "›»→⟩▶" for sign in text)


def numbered_next(address: str, links: Mapping[str, str]) -> str | None:
    """The next page where pages are linked by their numbers alone. `links`: from address to text.

    Links whose addresses differ in their number alone are pages of one listing. Which of them this is says its address;
    one without a number is the first.
    """
    groups: dict[tuple[str, str], dict[int, str]] = {}
    for target, text in links.items():
        if text.isascii() and text.isdigit() and int(text) <= MOST_NUMBER:
            for shape in _shapes(target, text):
                groups.setdefault(shape, {})[int(text)] = target
    for shape, pages in groups.items():
        here = _number_of(address, shape)
        if here is None and _first_of(address, shape) and pages.get(1, address) == address:
            here = 1
        if here is not None and here + 1 in pages:
            return pages[here + 1]
    return None


def _shapes(target: str, number: str) -> list[tuple[str, str]]:
    """What comes before and after the number, wherever it stands alone in the address behind its host."""
    start = target.find(urlsplit(target).netloc) + len(urlsplit(target).netloc)
    places = re.finditer(rf"(?<![0-9]){number}(?![0-9])", target)
    return [(target[: m.start()], target[m.end() :]) for m in places if m.start() >= start]


def _number_of(address: str, shape: tuple[str, str]) -> int | None:
    before, after = shape
    if not (address.startswith(before) and address.endswith(after)):
        return None
    middle = address[len(before) : len(address) - len(after)]
    return int(middle) if middle.isascii() and middle.isdigit() and len(middle) < 6 else None


def _first_of(address: str, shape: tuple[str, str]) -> bool:
    """Whether the address is that of the listing itself: the numbered ones begin like it."""
    bare = address.partition("?")[0].rstrip("/")
    return shape[0].partition("?")[0].removeprefix(bare)[:1] in ("", "/") and shape[0].startswith(bare)
