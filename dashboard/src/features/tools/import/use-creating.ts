import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../../api/client.ts";
import { sentenceOf } from "../../../api/problem.ts";
import { TOOLS } from "../tools.ts";
import type { ImportedTool } from "./imported.ts";

/** What has become of a tool that was to be created. */
export type Creation =
  | { state: "creating" }
  | { state: "created"; id: string; secret: string | undefined }
  | { state: "failed"; reason: string };

/** Creates imported tools one by one, and goes on when one is refused. */
export function useCreating() {
  const client = useQueryClient();
  const [creations, setCreations] = useState<ReadonlyMap<string, Creation>>(new Map());
  const [isCreating, setCreating] = useState(false);
  const create = async (tools: readonly ImportedTool[]) => {
    const note = (name: string, creation: Creation) => setCreations((all) => new Map(all).set(name, creation));
    setCreating(true);
    for (const tool of tools) {
      note(tool.name, { state: "creating" });
      try {
        const { id, signing_secret: secret } = await api.POST("/v1/public/tools", { body: tool });
        note(tool.name, { state: "created", id, secret });
      } catch (error) {
        note(tool.name, { state: "failed", reason: sentenceOf(error) });
      }
    }
    setCreating(false);
    await client.invalidateQueries({ queryKey: TOOLS });
  };
  return { creations, isCreating, create };
}
