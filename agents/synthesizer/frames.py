"""Surface forms: the frames that wording fills. Slots: what, who, noun, many, words, value, of, role, names, degree."""

OPENINGS = (
    "Quick question: ",
    "I am preparing a summary. ",
    "A colleague wants to know this. ",
    "Hi there! ",
    "I am double-checking some records. ",
    "One thing for my notes: ",
    "Hello, I need some help. ",
    "For a report: ",
    "I am filling in a form. ",
    "Small request: ",
    "We are reviewing our data. ",
    "Good morning. ",
)
LINKS = (
    "Also, ",
    "And ",
    "In addition, ",
    "Besides that, ",
    "Next: ",
    "Then: ",
    "One more thing: ",
    "Furthermore, ",
    "On top of that, ",
    "Separately, ",
)
WHAT_IS = (
    "what is {what}?",
    "what is {what}?",
    "what's {what}?",
    "could you tell me what {what} is?",
    "do you know what {what} is?",
    "can you find out what {what} is?",
    "I wonder what {what} is.",
    "I'd like to know what {what} is.",
)
WHAT_ARE = (
    "what are {what}?",
    "what are {what}?",
    "could you tell me what {what} are?",
    "I'd like to know what {what} are.",
)
TELL = (
    "tell me {what}.",
    "please tell me {what}.",
    "find {what}.",
    "give me {what}.",
    "look up {what}.",
    "I need {what}.",
    "please look up {what}.",
    "can you tell me {what}?",
    "could you find {what}?",
    "report {what}.",
    "I'm looking for {what}.",
    "please report {what}.",
    "could you check {what} for me?",
    "find out {what}.",
    "let me know {what}.",
    "I would like to have {what}.",
    "please state {what}.",
    "I have to note down {what}.",
    "check {what}, please.",
    "may I have {what}?",
    "help me find {what}.",
    "work out {what}.",
)
ABOUT_ONE = (
    "for {who}, what is the {what}?",
    "take {who}: what is its {what}?",
    "what {what} does {who} have?",
    "look at {who} and tell me its {what}.",
    "I am interested in {who}. What is its {what}?",
    "which {what} is on record for {who}?",
    "find {who} and give me its {what}.",
    "look up {who}. What is its {what}?",
    "what {what} is listed for {who}?",
    "regarding {who}: what is the {what}?",
    "there should be a record of {who}; what {what} does it show?",
    "with respect to {who}, report the {what}.",
)
ABOUT_MANY = (
    "for {who}, what are the {what}?",
    "take {who}: tell me its {what}.",
    "look at {who} and tell me its {what}.",
    "I am interested in {who}. Give me its {what}.",
    "find {who} and report its {what}.",
    "which {what} are on record for {who}?",
    "regarding {who}: report the {what}.",
    "look up {who} and give me its {what}.",
    "with respect to {who}, I need the {what}.",
)
HOW_MANY = (
    "how many {many} {rest} are there?",
    "how many {many} {rest} can you find?",
    "how many {many} are there {rest}?",
    "tell me how many {many} {rest} there are.",
    "count the {many} {rest}.",
    "I need to know how many {many} {rest} exist.",
    "please count the {many} {rest}.",
    "could you count the {many} {rest}?",
    "find out how many {many} {rest} there are.",
    "how many {many} {rest} are on record?",
    "how large is the number of {many} {rest}?",
    "I'd like to know how many {many} {rest} we have.",
    "can you tell me how many {many} {rest} there are?",
)
REDUCTIONS = {
    "sum": (
        "total",
        "summed",
        "combined",
    ),
    "mean": (
        "average",
        "mean",
    ),
    "average": (
        "average",
        "mean",
    ),
    "min": (
        "lowest",
        "smallest",
        "minimum",
    ),
    "max": (
        "highest",
        "largest",
        "maximum",
    ),
}
ROUNDED = (
    ", rounded to two decimals",
    " (rounded to two decimals)",
    ", to two decimal places",
    " (two decimals)",
)
WINNER = (
    "which of {names} has the {degree} {what}?",
    "compare {names}: which one has the {degree} {what}?",
    "out of {names}, find the one with the {degree} {what}.",
    "looking at {names}, which has the {degree} {what}?",
    "among {names}, which one shows the {degree} {what}?",
    "I am comparing {names}. Which has the {degree} {what}?",
    "take {names} and tell me which of them has the {degree} {what}.",
    "of {names}, I need the one whose {what} is {degree}.",
    "check {names} and pick the one with the {degree} {what}.",
    "between {names}, whose {what} is {degree}?",
)
WINNER_OR = (
    "which has the {degree} {what}, {names}?",
    "whose {what} is {degree}, that of {names}?",
    "which one shows the {degree} {what}: {names}?",
    "does {names} have the {degree} {what}?",
)
REPORT_ITS = (
    "Give its {what}.",
    "Report its {what}.",
    "Answer with its {what}.",
    "State its {what}.",
    "I need its {what}.",
    "Tell me its {what}.",
    "Say which {what} it has.",
)
BY_KEY = (
    "{noun} {value}",
    "{noun} {value}",
    "the {noun} with {words} {value}",
    "the {noun} {value}",
    "the {noun} that has the {words} {value}",
)
BY_KEY_IN_FULL = (
    "the {noun} with {words} {value}",
    "the {noun} whose {words} is {value}",
    "the {noun} that has the {words} {value}",
    "the {noun} of {words} {value}",
)
BY_OWN_NAME = ("{noun} {value}", "the {noun} {value}", "the {noun} called {value}")
BY_OWN_CODE = ("{noun} {value}", "the {noun} {value}")
BARE = ("{value}",)
BY_LABEL = (
    "the {noun} {value}",
    "the {noun} {value}",
    'the {noun} "{value}"',
    "the {noun} called {value}",
    "the {noun} named {value}",
    "the {noun} with the {words} {value}",
)
TITLED = (
    "the {noun} titled {value}",
    'the {noun} entitled "{value}"',
)
BY_VALUE = (
    "the only {noun} whose {words} is {value}",
    "the one {noun} with {words} {value}",
    "the single {noun} that has {words} {value}",
    "the only {noun} with {words} {value}",
)
PARENT = (
    "the {noun} of {of}",
    "the {noun} of {of}",
    "the {noun} recorded for {of}",
)
PARENT_AS = (
    "the {role} {noun} of {of}",
    "the {noun} that is the {role} of {of}",
    "the {noun} given as {role} of {of}",
)
ONLY_CHILD = (
    "the only {noun} of {of}",
    "the one {noun} that belongs to {of}",
    "the single {noun} recorded for {of}",
    "the only {noun} linked to {of}",
)
ONLY_CHILD_AS = (
    "the only {noun} whose {role} is {of}",
    "the one {noun} with {of} as its {role}",
    "the single {noun} that has {of} as {role}",
)
OF_PARENT = (
    "of {who}",
    "that belong to {who}",
    "recorded for {who}",
    "linked to {who}",
    "listed for {who}",
)
OF_PARENT_AS = (
    "whose {role} is {who}",
    "that have {who} as their {role}",
    "with {who} as {role}",
)
OF_KEY = (
    "whose {noun} is {value}",
    "with {noun} {value}",
    "of {noun} {value}",
    "that belong to {noun} {value}",
)
OF_SEVERAL = (
    "of the {many} {values}",
    "that belong to the {many} {values}",
    "recorded for the {many} {values}",
    "of any of the {many} {values}",
)
ONE_OF = (
    "whose {words} is {values}",
    "with {words} {values}",
    "that have {words} {values}",
)
SAME_AS = (
    "with the same {words} as {who} (that one included)",
    "whose {words} is that of {who}",
    "that have the {words} of {who}, that one included",
)
CONTAINS = (
    'whose {words} contains "{value}"',
    'with "{value}" in their {words}',
    'that have "{value}" in the {words}',
    'whose {words} includes the text "{value}"',
)
FLAG = (
    "whose {words} is {value}",
    "with the {words} set to {value}",
    "that have the {words} set to {value}",
)
HAVE_FLAG = ("have the {words} set to {value}", "have {value} as the value of their {words}")
COMPARED = {
    "=": (
        "whose {words} is {value}",
        "with {words} {value}",
        "that have {words} {value}",
        "with {value} as {words}",
    ),
    ">": (
        "whose {words} is above {value}",
        "with {a_words} greater than {value}",
        "with {words} over {value}",
    ),
    "<": (
        "whose {words} is below {value}",
        "with {a_words} less than {value}",
        "with {words} under {value}",
    ),
    ">=": (
        "whose {words} is at least {value}",
        "with {a_words} of {value} or more",
    ),
    "<=": (
        "whose {words} is at most {value}",
        "with {a_words} of {value} or less",
    ),
}
