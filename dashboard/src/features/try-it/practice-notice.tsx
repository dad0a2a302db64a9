import { Link } from "@tanstack/react-router";
import { Notice } from "../../ui/states.tsx";
import type { Changes } from "../agents/agents.ts";
import { practiceOf } from "./practice.ts";
import type { Kind } from "./setup.ts";

/** Says what to expect of the stand-ins with which a server begins. */
export function Practice({ agent, kind }: { agent: Changes; kind: Kind }) {
  const sentences = practiceOf(agent, kind);
  if (sentences.length === 0) return null;
  return (
    <div className="border-b border-line p-3">
      <Notice>
        {sentences.join(" ")}{" "}
        <Link from="/agents/$agentId" to="." search={{ tab: "models" }} className="underline">
          Connect a real one
        </Link>
        .
      </Notice>
    </div>
  );
}
