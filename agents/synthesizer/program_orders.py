"""Surface forms of programs' questions that change something: orders, and the sentences that hold them."""

# --- Orders ---

DO_PUT = (
    "set the {words} of {who} to {value}",
    "change the {words} of {who} to {value}",
    "make {value} the {words} of {who}",
    "put the {words} of {who} at {value}",
    "record {value} as the {words} of {who}",
    "assign the {words} {value} to {who}",
    "update the {words} of {who} to {value}",
)
DO_PUT_ALL = (
    "set the {words} to {value} for {group}",
    "change the {words} to {value} for {group}",
    "make {value} the {words} of {group}",
    "put the {words} at {value} for {group}",
    "record {value} as the {words} of {group}",
    "update {group} to the {words} {value}",
)
DO_REMOVE = (
    "delete {group}",
    "remove {group}",
    "erase {group}",
    "get rid of {group}",
    "clear out {group}",
)
DO_ADD = (
    "add {article} with {pairs}; its {words} shall be {figure}",
    "create {article} with {pairs}, and enter as its {words} {figure}",
    "register {article} with {pairs}; for its {words} put down {figure}",
    "record {new} with {pairs}, and as its {words} {figure}",
    "enter {new} with {pairs}, whose {words} is {figure}",
    "put {new} on record, with {pairs}, and with {figure} as its {words}",
)
PAIR = ("{words} {value}", "{value} as {words}", "the {words} {value}")

# --- Whole questions: writing ---

ORDER = (
    "{order}. {tell}",
    "please {order}. {tell}",
    "I need you to {order}. {tell}",
    "could you {order}? {tell}",
    "can you please {order}? {tell}",
    "it is time to {order}. {tell}",
    "kindly {order}. {tell}",
    "your job is to {order}. {tell}",
)
IF_ORDER = (
    "if {test}, {yes}; otherwise {no}. {tell}",
    "if {test}, please {yes}. If not, {no}. {tell}",
    "check whether {test}. If so, {yes}; if not, {no}. {tell}",
    "should it turn out that {test}, {yes}. Otherwise {no}. {tell}",
    "find out whether {test}: in that case {yes}, in any other {no}. {tell}",
    "when {test}, {yes}; when that is not so, {no}. {tell}",
    "it depends: if {test}, {yes}, and otherwise {no}. {tell}",
    "look whether {test}. Where this holds, {yes}; where it does not, {no}. {tell}",
)
IF_IF_ORDER = (
    "if {test}, look further: when {inner}, {one}; when not, {two}. If it is not the case to begin with, {no}. {tell}",
    "check first whether {test}. If not, {no}. If so, there are two ways: {one} if {inner}, and {two} if not. {tell}",
    "find out whether {test}. Where that fails, {no}. Where it holds, {one} in case {inner}, and else {two}. {tell}",
)
IF_SET = (
    "if {test}, set {what} to {yes}; otherwise set it to {no}. {tell}",
    "{what} has to be {yes} if {test}, and {no} if not. Please update it. {tell}",
    "check whether {test}: if so, {what} becomes {yes}, else {no}. Make the change. {tell}",
    "set {what} to {yes} if {test}, and to {no} in any other case. {tell}",
    "please put {what} at {yes} when {test}, and at {no} otherwise. {tell}",
    "depending on whether {test}, change {what} to {yes} (if it is so) or to {no} (if it is not). {tell}",
    "in case {test}, change {what} to {yes}; if not, change it to {no}. {tell}",
    "find out whether {test}. {what_capital} is to be {yes} in that case, {no} otherwise; see to it. {tell}",
)
TELL_COUNT = (
    "How many {many} did you {do}?",
    "Tell me how many {many} were {done}.",
    "Report the number of {many} {done}.",
    "Then say how many {many} you {did}.",
    "How many {many} were {done}?",
)
TELL_DEEDS = (
    "How many {many} did that affect?",
    "Tell me how many {many} this was done with.",
    "Report the number of {many} concerned.",
    "Then say for how many {many} you did it.",
    "How many {many} were there to do it with?",
)
TELL_NEW = (
    "Tell me the {words} of the new one.",
    "What is the {words} of the new one?",
    "Report the {words} of the one that comes in its place.",
    "Answer with the {words} of the new one.",
    "Give me the {words} that the new one has.",
)
TELL_FIELD = (
    "Then tell me the {words}.",
    "Report the {words} that it has then.",
    "Afterwards, give me the new {words}.",
    "Answer with the {words} as it is then.",
    "Confirm with the {words} that it has now.",
    "What is its {words} then?",
)
TELL_NAME = (
    "Report the {words} of that {noun}.",
    "Tell me the {words} of that {noun}.",
    "What is the {words} of that {noun}?",
    "Answer with the {words} of that {noun}.",
    "Give me the {words} of the {noun} concerned.",
)
TELL_FIGURE = (
    "Tell me {figure} as well.",
    "Report {figure}.",
    "Answer with {figure}.",
    "Then give me {figure}.",
    "Also state {figure}.",
)
