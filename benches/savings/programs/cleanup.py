backups = list_backups()
deleted = []
for backup in sorted(backups, key=lambda backup: backup["made"], reverse=True)[3:]:
    if now - backup["made"] > days * 86400:
        try:
            delete_backup(id=backup["id"])
            deleted.append(backup["id"])
        except Exception:
            pass
{"deleted": deleted, "kept": len(backups) - len(deleted)}
