/**
 * Who makes a request: a key or somebody signed in, as the gateway's gate tells, or the operator at the command line. Whoever tells
 * nothing is Parley itself.
 */
export interface Actor {
  kind: "key" | "session" | "operator" | "system";
  /** key_… or ses_…, or the operator's name on their machine; "" for the system. */
  id: string;
}

export const SYSTEM: Actor = { kind: "system", id: "" };

const FORM = /^(key|session|operator):([\w.@-]{1,100})$/;

/** As it travels from hop to hop; "" for the system. */
export function actorText({ kind, id }: Actor): string {
  return kind === "system" ? "" : `${kind}:${id}`;
}

/** Reads what `actorText` wrote; anything else is the system. */
export function actorOf(text: unknown): Actor {
  const [, kind, id = ""] = (typeof text === "string" && FORM.exec(text)) || [];
  return kind ? { kind: kind as Actor["kind"], id } : SYSTEM;
}
