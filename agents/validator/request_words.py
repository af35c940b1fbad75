"""The words by which changes are asked for: verbs of orders, and the patterns of wishes, rules and conditions."""

import re
from typing import Final, Literal

Kind = Literal["add", "remove", "set"]
Kinds = frozenset[Kind]
ADD: Final[Kinds] = frozenset({"add"})
REMOVE: Final[Kinds] = frozenset({"remove"})
SET: Final[Kinds] = frozenset({"set"})
ANY: Final[Kinds] = ADD | REMOVE | SET


def _verbs(kinds: Kinds, text: str) -> dict[str, Kinds]:
    return dict.fromkeys(text.split(), kinds)


def _pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """Written over several lines; a space is a space where it is escaped."""
    return re.compile(text, re.VERBOSE | flags)


PLAIN: Final = {
    **_verbs(REMOVE, "delete erase eliminate purge scrap discard"),
    **_verbs(REMOVE | SET, "remove wipe withdraw cancel revoke terminate dispose void detach unassign unset"),
    **_verbs(ADD, "add create insert append enrol enroll introduce"),
    **_verbs(ADD | SET, "register enter submit assign reserve lend attach reschedule"),
    **_verbs(SET, "modify edit adjust alter revise amend rename reassign replace overwrite reduce increase raise"),
    **_verbs(SET, "decrease decrement increment upgrade downgrade activate deactivate reactivate enable disable"),
    **_verbs(SET, "postpone extend renew approve reject promote demote reinstate restore unlock deduct redeem convert"),
    **_verbs(SET, "relocate waive ensure"),
}
"""Words that are verbs and nothing else."""
DOUBLE: Final = {
    **_verbs(SET, "set change update correct fix mark flag tag label switch swap exchange move transfer shift lower"),
    **_verbs(SET, "reset flip lock block suspend close reopen double halve bump turn empty merge bring refund"),
    **_verbs(REMOVE | SET, "drop clear strike cut archive retire release free void"),
    **_verbs(ADD | SET, "record log note file put make enroll book schedule open place post start issue pay charge"),
    **_verbs(ADD | SET, "credit loan rent award grant copy ship give hand"),
}
"""Words that are nouns or adjectives as well, or that ask for a change with some objects only."""
DONE: Final = {
    **_verbs(REMOVE, "deleted erased discarded purged scrapped gone"),
    **_verbs(REMOVE | SET, "removed wiped withdrawn cancelled canceled revoked dropped cleared struck archived"),
    **_verbs(ADD, "added created inserted"),
    **_verbs(ADD | SET, "registered entered recorded"),
    **_verbs(
        SET, "set changed updated corrected fixed marked flagged modified edited adjusted altered revised amended"
    ),
    **_verbs(SET, "renamed reassigned assigned replaced switched moved transferred shifted raised lowered increased"),
    **_verbs(SET, "reduced overwritten closed reopened approved rejected swapped"),
}
"""What one wants to be done."""
COMPANIONS: Final = {
    "make": r"\b(?:the|its|his|her|their|a|an|that|each|every|of)\b",
    "put": r"\b(?:at|as|on|to|into|in|down|for)\b",
    "bring": r"\bto\b",
    "hand": r"^ over\b|\bto\b",
    "turn": r"\b(?:on|off|into|to)\b",
    "note": r"^ (?:a|an|new)\b",
    "open": r"\bnew\b",
    "place": r"\border\b",
    "start": r"\bnew\b",
}
"""Verbs that ask for a change only with one of these words behind them."""
OBJECT: Final = (
    r"(?:the|a|an|this|that|these|those|his|her|its|their|my|our|all|every|each|any|both|it|them|him|one|another|"
    r"whichever|whoever)\b"
)
PARTICLE: Final = re.compile(r" (?:out|off|over|away|down|in|back|up)\b")
AS: Final = re.compile(r" (?:[^,.;]|\.\d){1,60}? as (?:the|its|his|her|their|a|an)\b")
TARGET: Final = re.compile(r"\b(?:to|as|at|by|from|off|out|into|with|on|for|of)\b|=")
TELLING: Final = re.compile(
    r"give (?:me|us|its|their|only|just|both|all|it|the|that|back|one|each|a list|a number)\b"
    r"|make (?:sure|a list|up|it clear|out|use|sense)\b|set aside\b|(?:put|set) [^.!?]* in [\w ]{0,20}order\b"
)
"""Not changed but told."""
SUM: Final = re.compile(r" (?:up|together)\b| the (?!.* to ).* (?:of|and) ")
TOLD: Final = re.compile(r" (?:the |its |a |all )?(?:number|count|total|list|sum|names?|titles?|mean|average)\b")
PLACE: Final = _pattern(
    r"""(?: ^ | (?<=[,;:(])\ * | \b(?: and | then | [Pp]lease | [Kk]indly | also | to | (?<!before\ )(?<!after\ ) you
    | just | now | or | but | otherwise | else | afterwards | finally | next | so | first | must | should | let's
    | let\ us | case | any\ other | is | are | by ) \  ) ["'“]?"""
)
"""What stands before an order; `to` and `is` (`if it is, delete`) as well."""
STRONG: Final = _pattern(
    r"""(?: ^ | [,;:(]\ * | \b(?: [Pp]lease | [Kk]indly | you | then | also | just | now | otherwise | and
    | (?: you | job\ is | time | like | want | need | is )\ to )\  ) ["'“]?$"""
)
"""Behind these an order needs no article."""
_FORM = r"rounded | given | reported | sorted | listed | returned | stated | expressed | formatted | ordered"
MUST: Final = _pattern(
    rf"""(?<!\b[tT]here\ ) (?<!answer\ ) (?<!result\ ) (?<!response\ ) (?<!output\ ) (?<!which\ ) (?<!what\ )
    (?<!\bI\ ) (?<!\bwe\ ) (?<!\byou\ )
    \b(?: should | must | shall | has\ to | have\ to | needs?\ to | ought\ to | is\ to | are\ to )
    (?: \ now | \ then | \ also | \ in\ future )?
    \ (?: be | become | read | get | go | have | belong | show | say | take\ over | move | carry | disappear | leave )\b
    (?! \ (?: {_FORM} | included | counted | considered | shown | answered | written | told | named | found | known
    | looked | checked | compared | worked | done | an\ integer | in\ the | as\ an? )\b )"""
)
WISH: Final = _pattern(
    rf"""(?: ^ | [,;:(]\ * | \b(?: I | we | I'd | we'd | would | please | to | and | you )\  )
    (?: want | need | like | have(?!\ to\b) | get | see | wish | prefer | let(?!\ (?: me | us )\b) )\b [^.!?;]{{1,200}}?
    (?<!flag\ ) \b( {"|".join(DONE)} )\b (?! \ for\b | [-\w] )
    | \b(?: I | we )\ want\b [^.!?;]{{1,120}}? \ to\ (?: have | be | become | read | get | show )
    (?! \ (?: {_FORM} | in | as )\b )
    | \b(?: needs? | requires? )\ (?: changing | updating | deleting | removing | correcting | adjusting | fixing )\b"""
)
GERUND: Final = _pattern(
    r"""\b(?: by | mind | after | start | begin )\ (?: deleting | erasing | removing | cancell?ing | adding | creating
    | inserting | registering | setting | changing | updating | editing | correcting | modifying | marking | moving
    | renaming | replacing | assigning | raising | lowering | increasing | reducing )\b"""
)
PASSIVE: Final = _pattern(
    rf"""^(?: could | can | would | will )\ (?! you\b | I\b | we\b ) [^.!?;]{{1,160}}?
    \ be\ (?: {" | ".join(DONE)} )\b"""
)
NEW: Final = _pattern(
    r"""\b(?: need | needs | get | gets | want | wants | like | have\ to\ have | has\ to\ have | should\ have
    | must\ have
    | should\ get | is\ to\ get | there\ is )\b [^.!?;:]{0,120}? \b(?: a | an | another | one )
    \ (?: new | additional | further | more )\b
    | \bnew\ [\w ,-]{1,60}\ (?: to | for\ you\ to )\ (?: record | add | enter | register | create )\b"""
)
RULE: Final = _pattern(
    r"""\b(?: from\ now\ on | as\ of\ now | effective\ immediately | with\ immediate\ effect
    | no\ longer\ (?: needed | wanted | valid | ours | here ) | takes?\ over | becomes? | make\ the\ change
    | see\ to\ it | take\ care\ of\ (?: it | that ) | do\ away\ with | rid\ of | write\ off | sign\ up
    | is\ obsolete )\b"""
)
AWAY: Final = _pattern(
    r"""\b(?: takes? | taken | cross | strike )\ [^.!?;]{1,200}?\ (?: off\b | away\b | (?: from | out\ of )
    \ (?: the\  | our\  | my\  | your\  )? (?: records? | books | files? | system | database | register | list
    | catalog(?:ue)? | inventory | data )\b )"""
)
NEEDED: Final = re.compile(r"\b(?:I|we) need (?:a|an|another) (?!list\b)[^.!?;:]{1,120}?,? with \w+")
"""May ask for something that is there already."""
STATE: Final = _pattern(
    r"""\b(?: make\ sure | see\ that | take\ care\ that | let )\ (?: that\  )?
    (?! (?: the\  | your\  )? (?: answer | result | list | you | me | us | it )\b )
    [^.!?;]{1,120}?\ (?: has | have | is | are | reads? | shows? | gets? | becomes? )\b
    | (?<!I\ ) (?<!we\ ) \b(?: needs | requires )\ \d"""
)
"""Wishes for a state, which may be there already."""
ASKING: Final = re.compile(r"(?:which|who|what|whose|whom|how|has|have|is|are|was|were|does|do|did|when|where|why)\b")
CONDITION: Final = _pattern(
    r"""\b(?: if | unless | otherwise | else | whenever
    | when\b(?!\ (?: was | were | did | does | do | has | have | will )\b ) | whether | provided | depending | in\ case
    | in\ that\ case | in\ any\ other | should\ it | should\ there | where\ (?: it | that | this ) | as\ long\ as
    | only\ where )\b""",
    re.IGNORECASE,
)
"""With these a request may come to nothing."""
OTHERWISE: Final = re.compile(
    r"\b(?:otherwise|or else|else|if not|when not|in any other case|where not)\b", re.IGNORECASE
)
"""Says what is to be done where a condition does not hold."""
SENTENCE: Final = re.compile(r"(?<=[.!?])[\"'”)]? +(?=[\"'“(]?[A-Z0-9])")
