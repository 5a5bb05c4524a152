/** The module as a bundler or workerd provides it: compiled. */
declare module "*.wasm" {
    const module: WebAssembly.Module;
    export default module;
}
