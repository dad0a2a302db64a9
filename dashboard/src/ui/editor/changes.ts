/** The fields in which a body differs from another one. */
export function changesOf<Body extends object>(before: Body, after: Body): Partial<Body> {
  const differing = Object.entries(after).filter(
    ([field, value]) => JSON.stringify(before[field as keyof Body] ?? null) !== JSON.stringify(value ?? null),
  );
  return Object.fromEntries(differing) as Partial<Body>;
}
