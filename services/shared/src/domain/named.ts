type Names<Enum, Prefix extends string> = {
  [Name in keyof Enum as Name extends `${Prefix}_${infer Rest}` ? Exclude<Rest, "UNSPECIFIED"> : never]: Enum[Name];
};
type LowerNames<Enum, Prefix extends string> = {
  [Name in keyof Enum as Name extends `${Prefix}_${infer Rest}`
    ? Lowercase<Exclude<Rest, "UNSPECIFIED">>
    : never]: Enum[Name];
};

/** The numbers of a protocol's enum by their names without its prefix, and without the unspecified one. */
export function named<Enum extends object, Prefix extends string>(
  numbers: Enum,
  prefix: Prefix,
): Readonly<Names<Enum, Prefix>> {
  const specified = Object.entries(numbers).filter(([name]) => name !== `${prefix}_UNSPECIFIED`);
  const names = specified.map(([name, number]) => [name.slice(prefix.length + 1), number]);
  return Object.fromEntries(names) as Names<Enum, Prefix>;
}

/** The same with names in lower case. */
export function lowerNamed<Enum extends object, Prefix extends string>(
  numbers: Enum,
  prefix: Prefix,
): Readonly<LowerNames<Enum, Prefix>> {
  const names = Object.entries(named(numbers, prefix)).map(([name, number]) => [name.toLowerCase(), number]);
  return Object.fromEntries(names) as LowerNames<Enum, Prefix>;
}
