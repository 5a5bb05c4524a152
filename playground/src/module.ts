// The WebAssembly module inside the page: compressed, in base64.

/** Unpacks and compiles the module in this element. */
export async function unpack(element: HTMLElement): Promise<WebAssembly.Module> {
    const packed = Uint8Array.from(atob(element.textContent ?? ""), (character) => character.charCodeAt(0));
    element.remove();
    const bytes = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return WebAssembly.compile(await new Response(bytes).arrayBuffer());
}
