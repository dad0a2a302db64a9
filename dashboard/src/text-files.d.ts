declare module "*.txt" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: it is what an import of a file gives
  export default text;
}
