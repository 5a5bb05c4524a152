// The worker's script as a text, which build.mjs inserts here.

const text: string = "";
export default text;
