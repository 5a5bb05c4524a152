ids = []
for page in range(100):
    songs = show_song_library(page=page)
    albums = show_album_library(page=page)
    playlists = show_playlist_library(page=page)
    if not songs and not albums and not playlists:
        break
    for song in songs:
        ids.append(song["id"])
    for listed in albums + playlists:
        ids.extend(listed["song-ids"])
else:
    raise RuntimeError("More than 100 pages")
found = []
seen = set()
for id in ids:
    if id not in seen:
        seen.add(id)
        song = show_song(id=id)
        if song["genre"] == genre:
            found.append(song)
found.sort(key=lambda song: song["plays"], reverse=True)
", ".join([song["title"] for song in found[:4]])
