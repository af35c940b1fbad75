"""A cinema as others would hand it over: nested JSON keyed by ids, and the tools of its booking service."""

import json
from pathlib import Path
from typing import Any

TRAITS = ({"row": "A", "view": "front"}, {"deck": "upper", "side": "left"}, {"aisle": "yes", "lift": "no"},
          {"box": "royal", "level": "2"}, {"sofa": "red", "table": "small"})  # fmt: skip
STATES = ("pending", "attended", "pending", "attended", "cancelled")


def cinema() -> dict[str, Any]:
    """10 customers with two cards each, 5 shows of 6 seats, 20 bookings of two tickets; some seats are sold twice."""
    shows = {f"s{n}": _show(n) for n in range(5)}
    customers = {f"ann_{n}": _customer(n) for n in range(10)}
    bookings = {f"#B{n:03}": _booking(n, shows) for n in range(20)}
    for booking in bookings.values():
        customers[booking["customer_id"]]["bookings"].append(booking["booking_id"])
    return {"shows": shows, "customers": customers, "bookings": bookings}


def _show(n: int) -> dict[str, Any]:
    seats = {
        f"{n}{k}": {
            "seat_id": f"{n}{k}", "available": k % 3 != 0, "price": 9.5 + n + k / 4,
            "traits": {name: f"{value} {k}" for name, value in TRAITS[n].items()},
        }
        for k in range(6)
    }  # fmt: skip
    return {"show_id": f"s{n}", "title": f"Show {'ABCDE'[n]}", "seats": seats}


def _customer(n: int) -> dict[str, Any]:
    cards = {f"card_{n}{k}": {"id": f"card_{n}{k}", "brand": ("visa", "amex")[k]} for k in range(2)}
    return {
        "customer_id": f"ann_{n}", "name": {"first_name": "Ann", "last_name": f"Lee{n}"},
        "address": {"street": f"{n} High Street", "town": f"Town {n}", "zip": f"0213{n}"},
        "email": f"ann{n}@example.com",
        "cards": cards, "bookings": [], "vouchers": [],
    }  # fmt: skip


def _booking(n: int, shows: dict[str, Any]) -> dict[str, Any]:
    show = f"s{n % 5}"
    chosen = [shows[show]["seats"][f"{n % 5}{k}"] for k in (n % 4, n % 4 + 1)]
    tickets = [{"show_id": show, **{k: v for k, v in seat.items() if k != "available"}} for seat in chosen]
    payments = [{"kind": "payment", "amount": sum(t["price"] for t in tickets), "card_id": f"card_{n % 10}0"}]
    return {
        "booking_id": f"#B{n:03}", "customer_id": f"ann_{n % 10}", "status": STATES[n // 4], "tickets": tickets,
        "payments": payments, "tags": ["gift", "late"][: n % 3],
    }  # fmt: skip


def tool(name: str, description: str, **parameters: str) -> dict[str, Any]:
    """In OpenAI's form; a parameter ending in `_ids` is a list."""
    kinds = {
        n: {"type": "array", "items": {"type": "string"}} if n.endswith("_ids") else {"type": "string"}
        for n in parameters
    }
    properties = {n: kinds[n] | {"description": said} for n, said in parameters.items()}
    schema = {"type": "object", "properties": properties, "required": list(parameters)}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


BOOKING = "The booking id, such as '#B000'."
CARD = "Such as 'card_00' or 'card_11'."
TOOLS = [
    tool("get_booking_details", "Status and details of a booking.", booking_id=BOOKING),
    tool("get_customer_details", "A customer, including their bookings.", customer_id="The customer."),
    tool("find_customer_id_by_email", "Find a customer id by email.", email="In full."),
    tool("find_customer_id_by_name_zip", "By name and zip.", first_name="First.", last_name="Last.", zip="Zip code."),
    tool(
        "cancel_pending_booking", "The booking status will be changed to 'cancelled'.", booking_id=BOOKING,
        reason="Either 'no time' or 'booked by mistake'.",
    ),
    tool(
        "change_pending_booking_tickets", "Change seats.", booking_id=BOOKING, seat_ids="Seats.", new_seat_ids="New.",
        card_id=CARD,
    ),
    tool("change_pending_booking_payment", "Pay by another card.", booking_id=BOOKING, card_id=CARD),
    tool(
        "refund_attended_booking_tickets", "The status will be changed to 'refund requested'.", booking_id=BOOKING,
        seat_ids="Seats.", card_id=CARD,
    ),
    tool(
        "dispute_attended_booking_tickets", "Dispute tickets.", booking_id=BOOKING, seat_ids="Seats.", card_id=CARD
    ),
    tool("change_customer_address", "Move.", customer_id="Who.", street="Street, or ''.", town="Town.", zip="Zip."),
    tool("calculate", "Arithmetic.", expression="Such as '2 + 2'."),
    tool("send_greeting", "Greet a customer.", customer_id="Who.", greeting="What to say."),
    tool("call_a_human", "Hand over.", summary="What it is about."),
]  # fmt: skip


def write_cinema(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "db.json").write_text(json.dumps(cinema()))
    (folder / "tools.json").write_text(json.dumps(TOOLS))
    (folder / "house_rules.md").write_text("# Rules\n")
    (folder / "LICENSE").write_text("MIT License\n\nCopyright ...\n")
    return folder
