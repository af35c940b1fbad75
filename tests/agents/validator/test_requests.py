"""A question's requests are seen whatever they are put like, and nothing else is taken for one."""

import pytest

from agent_world.agents.validator.requests import requests_of

NOUNS = ("book", "books", "loan", "loans", "member", "members", "change request", "change requests")
DEEDS = ("lend", "return", "renew")
ASKED = """
Set the copies of book B003 to 9 and tell me its author.
Please mark book B003 as lost, and tell me who wrote it.
Tell me its author, and make adult the level of Ada Novak.
Could you remove member M04 from the system?
I'd like loan 17 deleted.
Loan 17 has to go. Which book was it?
Member M04 moved to Boston; put that on record.
Book B003 should have 9 copies from now on.
We no longer need loan 17; get rid of it.
Cancel loan 17.
Bump the copies of B003 up to 9.
Bring the copies of book B003 to 9.
Give book B003 a rating of 4.
Make sure that B003 has 9 copies.
B003 needs 9 copies.
I want B003 to have 9 copies.
Record a new loan of book B003 by M01.
Lend book B003 to M01.
Return loan 17.
Move loan 17 to member M02.
Sign up a new member called Bob.
There's a new member, Bob, to register.
Have the copies of B003 set to 9.
Waive the fine of loan 17.
Flip the level of M04 to adult.
Kindly take loan 17 off the books.
Archive book B003.
The year of Emma is wrong: it must be 1816.
Set up a change request for M01.
Quick favour: Delete loan 17.
I need you to clear out the loans of M01.
Update member Ada: her level is now adult.
Would you mind setting the copies of B003 to 9?
Could the copies of B003 be changed to 9?
Start by deleting loan 17.
Your job is to set rating 4 for the one book with the most loans.
Hand over all loans of M01 to M02.
"""
NOT_ASKED = """
Which book is new?
What is the change request of C004?
Change request C004: who is it from?
Return the number of loans.
Who set the record for the most loans?
List the books whose rating was raised to 4.
How many copies of B003 were added in 2020?
Which members should pay a fine?
Send me the name of the author of Emma.
Order the books by year and give me the first.
Note that years before 1800 do not count. How many books are left?
Make a list of the books by Jane Austen.
Put the titles in alphabetical order.
Put the books of Jane Austen in order of year (latest first) and list their titles.
Open loan 17 and tell me its fine.
Book B003: is it lent to M01?
I need to know which loans have to be returned by May.
The answer must be a number rounded to two decimals.
The list should be sorted by title.
Take the book with the most copies and report its author.
Get the fine of loan 17 and add the fine of loan 18.
Add up the fines of all loans of M01.
Which books are to be deleted?
Has loan 17 been cancelled?
Which loan was closed last and which is open?
Set aside the horror books: how many are left?
I need a list with the titles of the loans of M01.
Who wrote "Delete the Past"?
Draw a lot and tell me what it is.
Who wrote B003? Do not delete it.
Before you delete anything, tell me who wrote B003.
I would like to have the mean fine of the loans that have the 'late' flag set to true.
"""


@pytest.mark.parametrize("question", ASKED.strip().splitlines())
def test_a_request_is_seen(question: str) -> None:
    assert requests_of(question, NOUNS, DEEDS)


@pytest.mark.parametrize("question", NOT_ASKED.strip().splitlines())
def test_what_asks_for_no_change_is_no_request(question: str) -> None:
    assert requests_of(question, NOUNS, DEEDS) == []


@pytest.mark.parametrize(
    ("question", "kinds"),
    [
        ("Delete loan 17.", {"remove"}),
        ("Add a member.", {"add"}),
        ("Change the fine of loan 17 to 3.", {"set"}),
        ("I want loan 17 deleted.", {"remove"}),
        ("M01 gets a new loan.", {"add"}),
    ],
)
def test_a_request_says_what_it_does_to_rows(question: str, kinds: set[str]) -> None:
    assert [set(request.kinds) for request in requests_of(question, NOUNS)] == [kinds]


@pytest.mark.parametrize(
    ("question", "conditional"),
    [
        ("Delete loan 17.", False),
        ("If loan 17 is open, delete it.", True),
        ("Delete loan 17 unless it is open.", True),
        ("Find out whether loan 17 is open. Delete it in that case.", True),
        ("Delete the loan whose ID is 17.", False),
        ("Make sure that loan 17 is closed.", True),
    ],
)
def test_only_a_condition_lets_a_request_come_to_nothing(question: str, conditional: bool) -> None:
    assert {request.conditional for request in requests_of(question, NOUNS)} == {conditional}


def test_a_word_that_the_data_have_too_is_no_sure_request() -> None:
    question = "I want the fines of the loans with status closed."
    assert [r.conditional for r in requests_of(question, NOUNS, DEEDS, {"closed"})] == [True]
    assert [r.conditional for r in requests_of("I want loan 17 deleted.", NOUNS, DEEDS, {"closed"})] == [False]
    assert requests_of("I have to note down the mean fine of the loans with status closed.", NOUNS, DEEDS) == []
