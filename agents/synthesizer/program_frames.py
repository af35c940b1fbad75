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
FLAG = ("the {words} set to {value}", "{value} as the value of their {words}")
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
    "<": ("is below {value}", "is lower than {value}", "is less than {value}", "is under {value}"),
    ">=": ("is at least {value}", "is not below {value}", "comes to {value} or more"),
    "<=": ("is at most {value}", "is not above {value}", "comes to {value} or less"),
    "=": ("is {value}",),
}

# --- Whole questions: reading ---

WHAT_IS = ("what is {what}?", "what is {what}?", "what's {what}?")
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
    "list the {whats} of {group}.",
    "which {whats} do {group} have? List all of them.",
    "give me the {what} of every one of {group}.",
    "I need a list with the {whats} of {group}.",
    "tell me the {whats} of {group}, all of them.",
    "what are the {whats} of {group}?",
    "please list {group} by their {whats}.",
    "find {group} and list their {whats}.",
    "name {group}: I need all their {whats}.",
    "collect the {whats} of {group}.",
    "write down the {whats} of {group}.",
)
RANK = (
    "list the {whats} of {group} in order of {by}, {best} first.",
    "rank {group} by {by}, {best} first, and give me their {whats} in that order.",
    "put {group} in order of {by} ({best} first) and list their {whats}.",
    "sort {group} by {by}, starting with the {best}, and write down their {whats} in that order.",
    "order {group} by {by}, {best} first. What are their {whats}, in that order?",
    "I need the {whats} of {group}, ordered by {by}, {best} first.",
    "what are the {whats} of {group}, in order of {by}, the {best} first?",
    "please list {group} by their {whats}, ordered by {by} with the {best} first.",
    "go through {group} in order of {by}, from the {best} on, and give me their {whats} in that order.",
    "write down the {whats} of {group}, sorted by {by}, {best} first.",
    "arrange {group} by {by} ({best} first). I need their {whats} in that order.",
    "could you list the {whats} of {group}, sorted by {by} and starting with the {best}?",
)
RANK_FIRST = (
    "rank {group} by {by}, {best} first, and give me the {whats} of the first {count}, in that order.",
    "sort {group} by {by}, starting with the {best}. What are the {whats} of the first {count}, in that order?",
    "of {group}, find the {count} with the {best} {by} and list their {whats}, {best} first.",
    "I need the {whats} of the {count} with the {best} {by} among {group}, in order, {best} first.",
    "which {count} of {group} have the {best} {by}? List their {whats}, {best} first.",
    "put {group} in order of {by}, {best} first, and list the {whats} of the first {count} in that order.",
    "arrange {group} by {by} ({best} first). I need the {whats} of the first {count} in that order.",
    "go through {group} by {by}, from the {best} on: what are the {whats} of the first {count}, in that order?",
    "could you sort {group} by {by}, {best} first, and list the {whats} of the first {count} in that order?",
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
    "in case {test}, give me {yes}. If it is not so, give me {no}.",
    "check whether {test}; where that holds I want {yes}, else {no}.",
    "when {test}, answer with {yes}; in any other case with {no}.",
    "one figure is wanted. If {test}, it is {yes}; otherwise it is {no}. Give me that figure.",
    "look whether {test}. In that case state {yes}; in the other state {no}.",
)
