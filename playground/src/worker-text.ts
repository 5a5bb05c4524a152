// The worker's script as a text: build.mjs puts it here.

const text: string = "";
export default text;
