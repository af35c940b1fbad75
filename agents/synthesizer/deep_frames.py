"""Surface forms of long walks. `[a|b]` is a choice within a form, so that one line stands for many."""

from collections.abc import Mapping
from typing import Final

PICK: Final = (
    "[among|of|out of] {group}, [find|take|pick out|look for|identify|single out] the {noun} {best}.",
    "[find|identify|look up|work out|determine|pick out] the {noun} {best} [among|out of] {group}.",
    "[go|look] through {group} and [find|take|pick out|note] the {noun} {best}.",
    "[start|begin] with {group}: [take|find|pick] the {noun} {best}.",
    "I [am interested in|have a question about|am looking for] the {noun} {best} among {group}.",
    "[consider|think of|take] {group}, and of these the {noun} {best}.",
)
"""What follows is about that row."""
PICK_NEXT: Final = (
    "[among|of|out of] {group}, [find|take|pick out|look for|identify|single out] the {noun} {best}.",
    "[then|next|after that], [find|identify|look up|determine|pick out] the {noun} {best} [among|out of] {group}.",
    "[now|then] [go|look] through {group} and [find|take|pick out|note] the {noun} {best}.",
    "[now|then|next], [among|of] {group}, [take|find|pick] the {noun} {best}.",
)
PICK_PARENT: Final = (
    "for each of {group}, [look up|check|find] the {role}, and [take|pick|note] the {noun} {best}.",
    "[look up|check|go through] the {role} of each of {group}; [take|pick|find] the {noun} {best}.",
)
PICK_CHILDREN: Final = (
    "[check|find out|count] how many {children} each of {group} has, and [take|pick|note] the {noun} {best}.",
    "for each of {group}, count its {children}; [take|pick|find] the {noun} {best}.",
)
PICK_FOLD: Final = (
    "for each of {group}, work out the {word} {what} of its {children}, and [take|pick|note] the {noun} {best}.",
    "[compare|rank] {group} by the {word} {what} of their {children}, and [take|pick|find] the {noun} {best}.",
)
PICK_AND_TELL: Final = (
    "[what is|what's] {fields} of the {noun} {best} [among|out of] {group}?",
    "[tell me|give me|report|find|look up|find out] {fields} of the {noun} {best} [among|out of] {group}.",
    "[among|of|out of] {group}, which is the {noun} {best}? [Give|Report|Tell me|State] its {bare}.",
    "[among|of|out of] {group}, [what is|what's] {fields} of the {noun} {best}?",
    "[I need|I would like to know|I am looking for|let me know] {fields} of the {noun} {best} [among|out of] {group}.",
    "[can|could] you [tell me|find|look up] {fields} of the {noun} {best} [among|out of] {group}?",
    "[find|take|look for] the {noun} {best} [among|out of] {group}, and [tell me|give me|report] its {bare}.",
)
BEST_REACH: Final = (
    "whose {children} reach the highest {what}",
    "with the highest {what} in any of its {children}",
)
BEST_DOWN: Final = ("whose {children} go down to the lowest {what}", "with the lowest {what} in any of its {children}")
BEST_OWN: Final = ("with the {degree} {what}", "that has the {degree} {what}", "whose {what} is the {degree}")
BEST_PARENT: Final = ("whose {role} has the {degree} {what}", "whose {role} is the one with the {degree} {what}")
BEST_CHILDREN: Final = ("with the {most} {children}", "that has the {most} {children}")
BEST_CHILDREN_AS: Final = (
    "that is the {role} of the {most} {children}",
    "that the {most} {children} have as their {role}",
)
BEST_FOLD: Final = (
    "with the {degree} {word} {what} over its {children}",
    "whose {children} have the {degree} {word} {what}",
)
TELL: Final = (
    "[tell me|please tell me|let me know|please let me know|find out|please find out|work out|I need to know] {what}.",
    "[I would like to know|I want to know|I'd like to know|state|report|please report] {what}.",
    "[can you tell me|could you tell me|could you find out|can you work out|do you know] {what}?",
)
"""Of noun phrases like `its name and how many loans there are`."""
WHAT: Final = ("[what is|what's] {what}?", "[tell me|give me|report|state|find|look up|I need|please give me] {what}.")
"""Of noun phrases that begin with `its` or `the`."""
ITS: Final = ("its {what}", "the {what} of that {noun}")
OF_ITS: Final = ("the {what} of its {role}", "the {what} of the {role} of that {noun}")
NUMBER: Final = ("how many {many} {rest} there are", "the number of {many} {rest}", "how many {many} there are {rest}")
FOLD_OWN: Final = (
    "the {word} {what} [of|over|across|among] {group}{rounding}",
    "the {word} {what} for {group}{rounding}",
)
FOLD_PARENT: Final = (
    "the {word} {what} of the {role}, [taken|worked out] over {group} with one value for each{rounding}",
    "the {word} {what} of the {role} over {group}, [one value for each {noun}|counting each {noun} once]{rounding}",
)
FOLD_PARENT_CUED: Final = (
    "for each of {group}, [look up|check|note|find] the {what} of its {role}. "
    "[What is|What's|Tell me|Give me] the {word} of these values{rounding}[?]",
    "[look up|go and check|find] the {role} of each of {group} and note its {what}; "
    "[what is|tell me|report] the {word} of these values{rounding}[?]",
)
FOLD_CHILDREN: Final = ("the {word} number of {children} per {noun} [over|across|among] {group}{rounding}",)
SUM_CHILDREN: Final = (
    "how many {children} {group} have [in all|altogether|in total]",
    "the [total|combined] number of {children} of {group}",
)
RANGE_OWN: Final = (
    "the difference between the highest and the lowest {what} [of|among] {group}{rounding}",
    "how far apart the highest and the lowest {what} [of|among] {group} are{rounding}",
)
RANGE_PARENT: Final = (
    "the difference between the highest and the lowest {what} of the {role} [over|among] {group}{rounding}",
    "how far apart the highest and the lowest {what} of the {role} are among {group}{rounding}",
)
SHARE: Final = ("how many of {group} {have}", "how many there are among {group} that {have}")
SHARE_ASK: Final = (
    "how many of {group} {have}?",
    "[among|of|out of] {group}, how many {have}?",
    "[go|look] through {group}: how many of them {have}?",
    "[count|please count|work out the number of] those of {group} that {have}.",
    "[take|look at|consider|check] {group}. How many of them {have}?",
    "[tell me|let me know|I need to know|find out|could you tell me|I'd like to know] how many of {group} {have}[.]",
)
NAMES: Final = ("the {names} of those of {group} that {have}",)
NAMES_ASK: Final = (
    "which of {group} {have}? [List|Give me|Name|I need|Report] [their|the] {names}.",
    "[among|of|out of] {group}, which {have}? [List|Give me|Name|I need|Report] [their|the] {names}.",
    "[list|give me|find|report|write down|look up|collect] the {names} of [those of|all those of] {group} that {have}.",
    "[go|look] through {group} and [list|give me|write down] the {names} of those that {have}.",
    "[I need|I would like|please give me|can I have] the {names} of those of {group} that {have}[.]",
)
HAVE: Final = {
    ">": ("have {a_words} above {value}", "have {a_words} of more than {value}", "have {a_words} greater than {value}"),
    "<": ("have {a_words} below {value}", "have {a_words} of less than {value}", "have {a_words} under {value}"),
    ">=": ("have {a_words} of at least {value}", "have {a_words} of {value} or more"),
    "<=": ("have {a_words} of at most {value}", "have {a_words} of {value} or less"),
    "=": ("have {words} {value}", "have {value} as their {words}", "show {value} as {words}"),
}
HAVE_DATE: Final = {
    ">": ("have {a_words} after {value}", "have {a_words} later than {value}"),
    "<": ("have {a_words} before {value}", "have {a_words} earlier than {value}"),
}
HAVE_PARENT: Final = ("have {a_role} whose {words} is {test}", "are tied to {a_role} whose {words} is {test}")
TEST: Final = {
    ">": ("above {value}", "more than {value}", "greater than {value}"),
    "<": ("below {value}", "less than {value}", "under {value}"),
    ">=": ("at least {value}", "{value} or more"),
    "<=": ("at most {value}", "{value} or less"),
    "=": ("{value}", "exactly {value}"),
}
HAVE_CHILDREN: Final[Mapping[str, tuple[str, ...]]] = {
    ">": ("have more than {value} {children}", "have over {value} {children}"),
    "<": ("have fewer than {value} {children}", "have under {value} {children}"),
}
HAVE_CHILDREN_AS: Final[Mapping[str, tuple[str, ...]]] = {
    ">": ("are the {role} of more than {value} {children}",),
    "<": ("are the {role} of fewer than {value} {children}",),
}
OF_SEVERAL: Final = ("of the {many} {values}", "that belong to the {many} {values}", "recorded for the {many} {values}")
IS_ONE_OF: Final = ("whose {words} is {values}", "with {words} {values}")
ALL: Final = (
    "all {many}",
    "all the {many} on record",
    "all {many} there are",
    "all {many} on record",
    "all the {many}",
)
FIRST: Final = ("the {count} {many}{rest} with the highest {what}", "the top {count} {many}{rest} by {what}")
SET_IT: Final = (
    "[set|change|put|please set|please change|switch] its {what} to {value}",
    "[set|change|update] the {what} of that {noun} to {value}",
    "[make|record] {value} [as its {what}|as the {what} of that {noun}]",
    "its {what} [has to be|should be|must be] {value} from now on, so [update|change|correct] it",
    "[I want|I need|I would like] its {what} [changed|set] to {value}",
    "[correct|update|change] that {noun}, so that its {what} is {value}",
)
REMOVE_IT: Final = (
    "[delete|remove|please delete|please remove|erase] that {noun}",
    "[take|strike] that {noun} [off the records|from our records|from the records]",
    "that {noun} [is obsolete|is no longer needed|should not be there], so [delete|remove|erase] it",
    "[I want|I need|I would like] that {noun} [deleted|removed]",
    "[get rid of|do away with] that {noun} [in the records|on record]",
)
ADD_TO: Final = (
    "[add|create|record|enter|register|please add|set up|please create] {a_child} for {who} with {values}",
    "[put down|open|file|I need|we need|I would like|please open] a new {child} for {who} with {values}",
    "{who} [needs|should get|is to get|gets|has to have] a new {child}: {values}",
    "[make|note|we need|please record|please enter|please register] {a_child} for {who}, with {values}",
    "[add|create|record|enter|register|set up] a new {child}: [it is for|this one is for] {who}, with {values}",
)
ADD_AS: Final = (
    "[add|create|record|enter|register|please add|set up] {a_child} with {who} as {role} and with {values}",
    "[I need|make|file|we need|set up|please create|record] a new {child} whose {role} is {who}, with {values}",
    "[put down|open|create|add|register] a new {child} that has {who} as its {role}: {values}",
    "[add|create|record|enter|register|file] a new {child}: its {role} is {who}; [for the rest,|also] {values}",
)
MOVE: Final = (
    "[move|transfer|reassign|shift|please move|please transfer|hand over] all {many} {rest} to {target}",
    "[all|all of the] {many} {rest} [should go|are to go|have to go|should be moved|belong] to {target} from now on",
    "[have|get|I want] all {many} {rest} [moved|transferred|reassigned] to {target}",
    "{target} [takes over|is to take over|should take over] all {many} {rest}",
)
MOVE_TELL: Final = (
    "[How many were moved|How many are these|How many did you move]?",
    "[Tell me|Report|Let me know|Say] how many were moved.",
)
SET_EACH: Final = (
    "[set|change|update|put|please set|please change] the {what} of [each of|all of] {group} to {value}",
    "for [each of|every one of] {group}, [set|change|put] the {what} to {value}",
    "the {what} of [each of|all of] {group} [has to be|should be|must become|is to be] {value}",
    "[go|look] through {group} and [set|change] the {what} of each to {value}",
    "[make|record] {value} the {what} of [each of|all of] {group}",
)
EACH_TELL: Final = (
    "[How many did you change|How many were changed|How many are these]?",
    "[Tell me|Report|Let me know|Say] how many [you changed|were changed].",
)
TELL_IT: Final = (
    "[Tell me|Report|Give me|State|Let me know|Confirm with] its {what}.",
    "[What is|What's] its {what}?",
    "[Afterwards|Then|Once done], [tell me|give me|report] its {what}.",
)
TELL_GONE: Final = (
    "[Tell me|Report|Give me|State|Let me know] the {what} it had.",
    "[What was|Tell me what was] its {what}[?]",
)
TELL_NEW: Final = (
    "[Tell me|Report|Give me|State|Let me know] the {what} of the new {noun}.",
    "[What is|What's] the {what} of the new {noun}?",
)

# --- Long lists are said first, and spoken of afterwards ---

HERE_ARE: Final = (
    "[here are|these are] some {many}: {values}.",
    "I have a list of {many} [here|in front of me]: {values}.",
    "[these|the following] {many} are on my list: {values}.",
    "[this|it] is about the {many} {values}.",
    "the {many} that I am [interested in|asking about] are {values}.",
    "[let us|let's] talk about the {many} {values}.",
    "[consider|think of|take] the {many} {values}.",
)
IT_IS_ABOUT: Final = (
    "[this|it|my question] is about {group}.",
    "I am [looking into|going through|reviewing] {group}.",
    "I have [questions|a question] about {group}.",
    "[consider|think of|take] {group}.",
    "my [interest is in|concern is] {group}.",
    "[let us|let's] look at {group}.",
)
WHICH_AND_COUNT: Final = (
    "which of {group} {have}? [Give|Report|State] [their|the] {names} and [say how many there are|how many it is].",
    "[tell me|say] which of {group} {have}, by [their|the] {names}, and how many [there are|that makes].",
    "[list|give] the {names} of those of {group} that {have}, and [their number|say how many there are].",
    "find those of {group} that {have}. [Give their count and {names}.|How many are there, and what are the {names}?]",
)
