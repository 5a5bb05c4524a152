def book_trip():
    undo = []

    def fail(message):
        for cancel, id in reversed(undo):
            try:
                cancel(id=id)
            except Exception:
                pass
        return {"error": message}

    try:
        flight = flights_book(to=trip["city"], day=trip["day"])
    except Exception as error:
        return fail(f"No flight: {error}")
    undo.append((flights_cancel, flight["id"]))
    try:
        hotel = hotels_book(city=trip["city"], day=trip["day"])
    except Exception as error:
        return fail(f"No hotel: {error}")
    undo.append((hotels_cancel, hotel["id"]))
    try:
        car = cars_book(city=trip["city"], day=trip["day"])
    except Exception as error:
        return fail(f"No car: {error}")
    undo.append((cars_cancel, car["id"]))
    price = flight["price"] + hotel["price"] + car["price"]
    try:
        bank_charge(card=card, amount=price)
    except Exception as error:
        return fail(f"Not paid: {error}")
    return {"ok": {"flight": flight["id"], "hotel": hotel["id"], "car": car["id"], "price": price}}


book_trip()
