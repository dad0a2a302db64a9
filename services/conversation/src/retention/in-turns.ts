/**
 * Works for each owner in turn, one part at a time, until no owner has more work, so that no owner waits for all of
 * another's. An owner whose part fails gets no further turn; the others continue.
 * @param owners the owners with work
 * @param doPart returns whether there may be more
 * @param stopping stops the rounds after the current part
 * @throws the first failure, at the end
 */
export async function inTurns(
  owners: AsyncIterable<string> | Iterable<string>,
  doPart: (ownerId: string) => Promise<boolean>,
  stopping: AbortSignal,
): Promise<void> {
  const failures: unknown[] = [];
  const hasMore = (ownerId: string) =>
    doPart(ownerId).catch((error: unknown) => {
      failures.push(error);
      return false;
    });
  let again: string[] = [];
  for await (const ownerId of owners) {
    if (stopping.aborted) return;
    if (await hasMore(ownerId)) again.push(ownerId);
  }
  while (again.length > 0) {
    const round = again;
    again = [];
    for (const ownerId of round) {
      if (stopping.aborted) return;
      if (await hasMore(ownerId)) again.push(ownerId);
    }
  }
  if (failures.length > 0) throw failures[0];
}
