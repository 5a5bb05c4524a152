/** What a bundler or workerd gives for the module: it is compiled. */
declare module "*.wasm" {
    const module: WebAssembly.Module;
    export default module;
}
