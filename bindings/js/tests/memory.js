// A store that lives as long as its process, for tests.
export class Memory {
    runs = new Map();
    written = [];

    read(name) {
        return this.runs.get(name);
    }

    write(name, version, record) {
        if ((this.runs.get(name)?.version ?? 0) !== version - 1) return false;
        this.runs.set(name, { version, record });
        this.written.push(JSON.parse(record).state);
        return true;
    }
}
