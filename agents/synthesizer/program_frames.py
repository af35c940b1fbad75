"""Surface forms of programs' questions: conditions, figures, orders, and the sentences that hold them."""

# --- What rows have, and which are meant ---

COUNTED = {
    ">": ("more than {value} {noun}", "over {value} {noun}"),
    "<": ("fewer than {value} {noun}", "under {value} {noun}"),
    ">=": ("at least {value} {noun}", "{value} or more {noun}", "no fewer than {value} {noun}"),
    "<=": ("at most {value} {noun}", "no more than {value} {noun}", "{value} {noun} or fewer"),
    "=": ("exactly {value} {noun}",),
}
AMOUNTS = {
    ">": ("{a_words} above {value}", "{a_words} of more than {value}", "{a_words} greater than {value}"),
    "<": ("{a_words} below {value}", "{a_words} of less than {value}", "{a_words} under {value}"),
    ">=": ("{a_words} of at least {value}", "{a_words} of {value} or more"),
    "<=": ("{a_words} of at most {value}", "{a_words} of {value} or less"),
    "=": ("{a_words} of exactly {value}",),
}
TIMES = {
    ">": ("{a_words} after {value}", "{a_words} later than {value}"),
    "<": ("{a_words} before {value}", "{a_words} earlier than {value}"),
    ">=": ("{a_words} of {value} or later", "{a_words} no earlier than {value}"),
    "<=": ("{a_words} of {value} or earlier", "{a_words} no later than {value}"),
    "=": ("{a_words} of {value}",),
}
KIND = ("the {words} {value}", "{value} as {words}", "{words} {value}")
TEXTS = {
    "contains": (
        '{a_words} that contains "{value}"',
        '"{value}" in their {words}',
        '"{value}" somewhere in the {words}',
        '{a_words} with "{value}" in it',
    ),
    "starts with": (
        '{a_words} that starts with "{value}"',
        '{a_words} that begins with "{value}"',
        '{a_words} starting with "{value}"',
    ),
}
PLURAL_TEXTS = {
    "contains": ('"{value}" in their {words}', '"{value}" among their {words}', '{words} that contain "{value}"'),
    "starts with": ('{words} that start with "{value}"', '{words} that begin with "{value}"'),
}
WHO = (
    "the {noun} with {most} among {group}",
    "the {noun} that has {most} among {group}",
    "the {noun} with {most} out of {group}",
    "whichever of {group} has {most}",
    "the one {noun} that has {most} among {group}",
)

# --- Figures ---

REDUCTIONS = {
    "sum": ("total", "summed", "combined"),
    "mean": ("average", "mean"),
    "min": ("lowest", "smallest", "minimum"),
    "max": ("highest", "largest", "maximum"),
}
ROUNDED = (", rounded to two decimals", " (rounded to two decimals)", ", to two decimal places", " (two decimals)")
OVER = ("of", "over", "among", "across")
EACH = (" (each {noun} counting once)", " (one value for each {noun})", " (one value for every {noun})")
ROUND = (
    " Round to two decimals.",
    " Two decimals are enough.",
    " Give it to two decimal places.",
    " Please round to two decimals.",
    " Two decimals, please.",
)
SHARE = (
    "the percentage of those that {does} among {group}",
    "the share, in percent, of those that {does} among {group}",
    "the percentage, among {group}, of the ones that {does}",
)
DIFFERENCE = (
    "the difference between {one} and {other}, as a positive number",
    "the absolute difference between {one} and {other}",
    "the gap between {one} and {other}",
)
RATIO = (
    "the ratio of {one} to {other}",
    "{one}, divided by {other}",
    "the quotient of {one} and {other}",
)

# --- Conditions on figures ---

PARTS = {25: "a quarter", 50: "half", 75: "three quarters"}
MORE = {
    ">": ("more than", "over"),
    "<": ("fewer than", "less than"),
    ">=": ("at least", "no fewer than"),
    "<=": ("at most", "no more than"),
}
RATHER = {">": ("more",), "<": ("fewer",)}
MORE_THAN = (
    "there are {more} {one} than {other}",
    "there are {more} {one} than there are {other}",
    "the records hold {more} {one} than {other}",
    "we have {more} {one} than {other}",
)
IS = {
    ">": ("is above {value}", "is higher than {value}", "is greater than {value}", "exceeds {value}"),
    "<": ("is below {value}", "is lower than {value}", "is less than {value}", "stays under {value}"),
    ">=": ("is at least {value}", "is not below {value}", "comes to {value} or more"),
    "<=": ("is at most {value}", "is not above {value}", "comes to {value} or less"),
    "=": ("is {value}",),
}

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

# --- Whole questions: reading ---

COUNT = (
    "how many of {group} {does}?",
    "of {group}, how many {does}?",
    "count those of {group} that {does}.",
    "tell me how many of {group} {does}.",
    "I need to know how many of {group} {does}.",
    "look at {group}. How many {does}?",
    "go through {group} and count the ones that {does}.",
    "could you find out how many of {group} {does}?",
    "check {group}: how many of them {does}?",
    "please work out how many of {group} {does}.",
    "among {group}, what is the number of those that {does}?",
    "take {group} and tell me how many of them {does}.",
)
NAMES = (
    "list the {what} of {group}.",
    "which {what} do {group} have? List all of them.",
    "give me the {what} of every one of {group}.",
    "I need a list with the {what} of {group}.",
    "tell me the {what} of {group}, all of them.",
    "what are the {what} values of {group}?",
    "please list {group} by their {what}.",
    "find {group} and list each {what}.",
    "name {group}: I need each {what}.",
    "collect the {what} of {group}.",
    "write down the {what} of {group}.",
)
EXTREME = (
    "which of {group} has {most}? {report}",
    "among {group}, find the {noun} with {most}. {report}",
    "look through {group}: which one has {most}? {report}",
    "of {group}, find the {noun} with {most}. {report}",
    "take {group} and pick the {noun} that has {most}. {report}",
    "I am after the {noun} with {most} out of {group}. {report}",
    "compare {group}. Which {noun} has {most}? {report}",
    "go through {group} and find the one with {most}. {report}",
    "out of {group}, which {noun} has {most}? {report}",
    "check {group} for the {noun} with {most}. {report}",
)
REPORT = (
    "Give its {told}.",
    "Report its {told}.",
    "I need its {told}.",
    "State its {told}.",
    "Tell me its {told}.",
    "Answer with its {told}.",
    "What is its {told}?",
)
REPORT_TWO = (
    "Give its {told} and {figure}.",
    "Report its {told} and {figure}.",
    "I need its {told} and {figure}.",
    "State its {told}, and {figure}.",
    "Tell me its {told} together with {figure}.",
    "Answer with its {told} and {figure}.",
    "What is its {told}, and what is {figure}?",
)
BEST_COUNT = (
    "which {by} is the most common one among {group}? Name it and say how many have it.",
    "sort {group} by {by}. Which {by} comes up most often, and how often?",
    "group {group} by {by} and tell me which {by} has the most of them, and how many.",
    "look at the {by} of each of {group}. Which one occurs most often? Give it with the count.",
    "for {group}, find the {by} that most of them share more than any other, and the number that do.",
    "count {group} by {by}. Which {by} leads, and with how many?",
)
BEST_FIGURE = (
    "group {group} by {by}. Which {by} has the {degree} {word} {what}, and what is that figure{rounded}?",
    "for each {by} among {group}, work out the {word} {what}. Which {by} is {degree}? Give it and the figure{rounded}.",
    "by {by}, where is the {word} {what} of {group} {degree}? Name the {by} and give the figure{rounded}.",
    "compare the {word} {what} of {group} by {by}: which {by} comes out {degree}, and at what figure{rounded}?",
    "sort {group} by {by} and take the {word} {what} of each. Report the {by} with the {degree} one, and it{rounded}.",
)
IF_ASK = (
    "if {test}, what is {yes}? Otherwise, what is {no}?",
    "if {test}, tell me {yes}; otherwise tell me {no}.",
    "find out whether {test}. If so, report {yes}, and if not, {no}.",
    "should it be that {test}, give me {yes}. If it is not so, give me {no}.",
    "check whether {test}; where that holds I want {yes}, else {no}.",
    "when {test}, answer with {yes}; in any other case with {no}.",
    "one figure is wanted. If {test}, it is {yes}; otherwise it is {no}. Give me that figure.",
    "look whether {test}. In that case state {yes}; in the other state {no}.",
)

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
    "should it be that {test}, change {what} to {yes}; if not, change it to {no}. {tell}",
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
