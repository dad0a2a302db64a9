import type { Sql } from "@parley/shared/db/database";
import { notFound } from "@parley/shared/errors";
import { isId } from "@parley/shared/ids";
import type { Handler } from "../feature.ts";
import type { OutboundContext } from "../outbound/context.ts";
import { toCall } from "../outbound/convert.ts";
import { findOutboundCall, type OutboundCall, type OutboundKey } from "../store/outbound-calls.ts";

export function getCall(ctx: OutboundContext): Handler<"getCall"> {
  return async (key) => ({ call: toCall(await getOutboundCall(ctx.db, key)) });
}

/** @throws ServiceError not_found */
export async function getOutboundCall(sql: Sql, key: OutboundKey): Promise<OutboundCall> {
  const call = isId("call", key.callId) ? await findOutboundCall(sql, key) : null;
  if (!call) throw notFound("Call");
  return call;
}
