declare module "*.binpb" {
  const path: string;
  export default path;
}
declare module "*.sql" {
  const text: string;
  export default text;
}
