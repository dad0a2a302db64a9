declare module "*.binpb" {
  const path: string;
  // biome-ignore lint/style/noDefaultExport: it is what an import of a file gives
  export default path;
}
declare module "*.sql" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: it is what an import of a file gives
  export default text;
}
declare module "*.onnx" {
  const path: string;
  // biome-ignore lint/style/noDefaultExport: it is what an import of a file gives
  export default path;
}
