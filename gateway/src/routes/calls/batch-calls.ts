import { setImmediate } from "node:timers/promises";
import type { BatchCall } from "@parley/proto/parley/voice/v1/call_batch.ts";
import { type CsvCall, readCallCsv } from "@parley/shared/domain/call-csv";
import { cancelled, invalid, ServiceError } from "@parley/shared/errors";
import type { Static } from "@sinclair/typebox";
import type { CallBatchBody } from "../../schemas/calls.ts";

interface BatchCalls {
  calls: BatchCall[];
  /** The line of each call in the CSV; null if the calls did not come as CSV. */
  lines: readonly number[] | null;
}

/**
 * @param gone ends the reading of the CSV
 * @throws ServiceError invalid, if the body has both or neither of `calls` and `csv`, or the CSV is wrong
 */
export async function batchCallsOf(
  { calls, csv }: Static<typeof CallBatchBody>,
  gone: AbortSignal,
): Promise<BatchCalls> {
  if (Boolean(calls?.length) === Boolean(csv))
    throw invalid("calls", "either calls or csv must have the numbers to call");
  if (!csv) {
    const given = (calls ?? []).map(({ to_mobile_number, dynamic_variables }) => ({
      toMobileNumber: to_mobile_number,
      dynamicVariables: dynamic_variables ?? undefined,
    }));
    return { calls: given, lines: null };
  }
  const rows = await csvCallsOf(csv, gone);
  return { calls: rows, lines: rows.map(({ line }) => line) };
}

/**
 * @param gone ends the reading
 * @throws ServiceError invalid, naming the lines that are wrong; cancelled
 */
export function csvCallsOf(csv: string, gone: AbortSignal): Promise<CsvCall[]> {
  return readCallCsv(csv, "csv", async () => {
    // Others work in between: a CSV of four megabytes takes a second.
    await setImmediate();
    if (gone.aborted) throw cancelled();
  });
}

/** Names the lines of the CSV in place of the calls that the service refuses. */
export async function namingLines<T>(lines: readonly number[] | null, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!lines || !(error instanceof ServiceError) || error.kind !== "invalid") throw error;
    const violations = error.violations.map(({ path, message }) => {
      if (path === "calls") return { path: "csv", message };
      const at = /^calls\.(\d+)\.(.*)$/.exec(path);
      return at
        ? { path: "csv", message: message.replace(path, `csv line ${lines[Number(at[1])]}: ${at[2]}`) }
        : { path, message };
    });
    throw new ServiceError("invalid", violations[0]?.message ?? error.detail, { violations, cause: error });
  }
}
