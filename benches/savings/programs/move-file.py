def move_file():
    try:
        file = drive_read(path=path)
    except Exception as error:
        return {"error": f"Not read: {error}"}
    try:
        copy = archive_put(path=path, content=file["content"])
    except Exception as error:
        return {"error": f"Not copied: {error}"}

    def undo():
        try:
            archive_delete(path=path)
        except Exception:
            pass

    if copy["size"] != file["size"]:
        undo()
        return {"error": f"The copy has {copy['size']} bytes of {file['size']}"}
    try:
        drive_delete(path=path)
    except Exception as error:
        undo()
        return {"error": f"Not removed: {error}"}
    return {"ok": None}


move_file()
