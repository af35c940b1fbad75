"""Surface forms of short walks that change something. Slots as in `frames`."""

SET = (
    "set the {what} of {who} to {value}.",
    "change the {what} of {who} to {value}.",
    "update {who}: its {what} is now {value}.",
    "please set the {what} of {who} to {value}.",
    "the {what} of {who} has to be {value}; please correct it.",
    "correct the {what} of {who} to {value}.",
    "for {who}, change the {what} to {value}.",
    "please change the {what} of {who} to {value}.",
    "make {value} the {what} of {who}.",
    "record {value} as the {what} of {who}.",
    "{who} should have {what} {value} from now on; please update it.",
    "I need the {what} of {who} changed to {value}.",
)
ADD = (
    "add {article} with {values}.",
    "please add {article} with {values}.",
    "create {article} with {values}.",
    "register {article} with {values}.",
    "enter a new {noun}: {values}.",
    "put {article} with {values} on record.",
    "I need a new {noun} with {values}.",
    "there is a new {noun} to record: {values}.",
)
REMOVE = (
    "delete {who}.",
    "remove {who}.",
    "please delete {who}.",
    "please remove {who} from the records.",
    "take {who} off the records.",
    "the record of {who} is obsolete; delete it.",
    "strike {who} from our records.",
    "I want {who} deleted.",
)
TELL_WRITTEN = (
    "Then tell me its {what}.",
    "Report its {what}.",
    "Afterwards, give me its {what}.",
    "Answer with its {what}.",
    "Confirm with its {what}.",
    "Then state its {what}.",
    "Which {what} does the {noun} show then?",
)
TELL_COUNTED = (
    "How many {group} are there then?",
    "Then tell me how many {group} there are.",
    "Afterwards, tell me the number of {group}.",
    "Report how many {group} there are then.",
    "How many {group} does that make?",
    "Then state the number of {group}.",
)
TELL_REMOVED = (
    "Tell me what its {what} was.",
    "Report the {what} that it had.",
    "Answer with the {what} it had.",
    "Give me the {what} of the deleted {noun}.",
    "Confirm with the {what} it had.",
)
