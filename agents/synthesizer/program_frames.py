"""Surface forms of programs' questions."""

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
    "which of {group} has the {degree} {what}? Give its {name} and that value.",
    "among {group}, find the {noun} with the {degree} {what}. Report its {name} and the value.",
    "look through {group}: which one has the {degree} {what}? I need its {name} and the value.",
    "of {group}, name the {noun} whose {what} is {degree}, by its {name}, together with the value.",
    "take {group} and pick the {noun} with the {degree} {what}. What is its {name}, and what is the value?",
    "I want the {noun} with the {degree} {what} out of {group}: its {name} and that figure.",
    "compare {group} by their {what}. Which {noun} is {degree}? State its {name} and the value.",
    "find the {degree} {what} among {group} and the {name} of the {noun} that has it.",
)
EXTREME_PARENT = (
    "among {group}, find the {noun} with the {degree} {what}. What is the {field} of its {parent}?",
    "take the {noun} with the {degree} {what} out of {group}. Tell me the {field} of its {parent}.",
    "which of {group} has the {degree} {what}? Look up its {parent} and report the {field}.",
    "look through {group} for the {degree} {what}. I need the {field} of the {parent} of that {noun}.",
    "for the {noun} with the {degree} {what} among {group}, what is the {field} of its {parent}?",
    "of {group}, the one whose {what} is {degree} interests me: give the {field} of its {parent}.",
)
JOIN_COUNT = (
    "how many of {group} have {a_parent} {condition}?",
    "look at {group}. How many have {a_parent} {condition}?",
    "go through {group} and count those that have {a_parent} {condition}.",
    "count, among {group}, the ones that have {a_parent} {condition}.",
    "check the {parent} of each of {group}. How many times is it one {condition}?",
    "I need to know for how many of {group} the {parent} is one {condition}.",
)
JOIN_MEAN = (
    "go through {group} and look up the {parent} of each. What is the average {field}, rounded to two decimals?",
    "for each of {group}, find the {parent}; give the mean {field} over all of them (two decimals).",
    "take {group}. What is the {field} of their {parent} on average, to two decimals?",
    "work out the average {field} of the {parent} over {group}, one value for each, rounded to two decimals.",
    (
        "averaged over {group}, what is the {field} of the {parent}? Count each of the {many} once and round "
        "to two decimals."
    ),
)
MOST_CHILDREN = (
    "which of {group} has the most {children}? Give its {name} and the number.",
    "for each of {group}, count its {children}. Which {noun} has the most, and how many? Give the {name}.",
    "among {group}, find the {noun} with the largest number of {children}; report its {name} and the count.",
    "check how many {children} each of {group} has. Report the {name} of the one with the most, and its count.",
    "rank {group} by the number of their {children}. What is the {name} of the first, and its count?",
)
MOST_CHILDREN_AS = (
    "which of {group} is the {role} of the most {children}? Give its {name} and the number.",
    (
        "for each of {group}, count the {children} that have it as {role}. Report the {name} of the one with "
        "the most, and its count."
    ),
    "among {group}, find the {noun} that is most often the {role} of {children}; report its {name} and the count.",
)
COMPARE_GROUPS = (
    (
        "are there more {one} or more {other}? For the larger group, give its size and the {name} of the "
        "{noun} with the highest {what}."
    ),
    (
        "compare the number of {one} with that of {other}. In the larger group, which {noun} has the highest "
        "{what}? Give its {name} and the size of the group."
    ),
    (
        "count {one} and {other}. Take whichever group is larger: report its size and the {name} of its "
        "{noun} with the highest {what}."
    ),
    (
        "I am weighing {one} against {other}. Tell me how many the larger group has, and the {name} of the "
        "{noun} in it whose {what} is highest."
    ),
)
IF_SET = (
    "if the {what} of {who} is {test}, set its {field} to {yes}; otherwise set it to {no}. Then report its {field}.",
    (
        "check the {what} of {who}. When it is {test}, its {field} has to become {yes}, else {no}. Tell me "
        "the {field} afterwards."
    ),
    (
        "look at {who}: should its {what} be {test}, change the {field} to {yes}; if not, change it to {no}. "
        "Which {field} does it have then?"
    ),
    "set the {field} of {who} to {yes} if its {what} is {test}, and to {no} if it is not. Report the new {field}.",
    (
        "for {who}, the {field} depends on the {what}: {yes} if that is {test}, {no} otherwise. Update it "
        "and tell me the {field}."
    ),
    (
        "the {field} of {who} must be {yes} when the {what} is {test}, and {no} in any other case. Make it "
        "so and give me the {field}."
    ),
)
BULK_SET = (
    "set the {field} of {group} to {value}. How many {many} did you change?",
    "change the {field} to {value} for all of {group}, and tell me how many there were.",
    "update {group}: the {field} becomes {value} for each. Report the number of {many} updated.",
    "for every one of {group}, put the {field} at {value}. Count the changes.",
    "please make the {field} {value} for {group}. How many were affected?",
    "each of {group} needs the {field} {value}. Do this and report how many you updated.",
)
BULK_REMOVE = (
    "delete {group}. How many {many} did you delete?",
    "remove {group} from the records and tell me how many there were.",
    "please delete {group}, and report the number deleted.",
    "clear out {group}. How many {many} were removed?",
    "take {group} off the records; count what you remove.",
)
TOP_SET = (
    "among {group}, find the {noun} with the {degree} {what} and set its {field} to {value}. Give its {name}.",
    "take the {noun} with the {degree} {what} out of {group}. Change its {field} to {value} and report its {name}.",
    "which of {group} has the {degree} {what}? Set the {field} of that {noun} to {value} and tell me its {name}.",
    "look through {group} for the {degree} {what}; the {field} of that {noun} has to become {value}. Name its {name}.",
    "of {group}, the one whose {what} is {degree} gets the {field} {value}. Update it and state its {name}.",
)
COMPARED = {
    ">": (
        "above {value}",
        "greater than {value}",
        "over {value}",
    ),
    "<": (
        "below {value}",
        "less than {value}",
        "under {value}",
    ),
    ">=": (
        "at least {value}",
        "{value} or more",
    ),
    "<=": (
        "at most {value}",
        "{value} or less",
    ),
    "=": (
        "{value}",
        "exactly {value}",
    ),
}
