declare module "swagger-ui-dist/*" {
  const path: string;
  // biome-ignore lint/style/noDefaultExport: it is what an import of a file gives
  export default path;
}

declare module "*.css" {
  const path: string;
  // biome-ignore lint/style/noDefaultExport: it is what an import of a file gives
  export default path;
}
