import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { sentenceOf } from "../../../api/problem.ts";
import { KNOWLEDGE } from "../knowledge.ts";
import { upload } from "./upload.ts";

export interface Upload {
  id: number;
  name: string;
  state: "waiting" | "sending" | "sent" | "duplicate" | "failed";
  /** What is sent of it, 0 to 1. */
  share: number;
  error: string | null;
}

export interface Uploads {
  all: readonly Upload[];
  add(files: readonly File[]): void;
  retry(id: number): void;
  /** Takes what is over off the list. */
  clear(): void;
}

/** Files on their way to a knowledge base, one after the other. They go on when the page is left. */
export function useUploads(baseId: string): Uploads {
  const client = useQueryClient();
  const [all, setAll] = useState<readonly Upload[]>([]);
  const files = useRef(new Map<number, File>()).current;
  const line = useRef(Promise.resolve());
  const nextId = useRef(1);
  const change = (id: number, changed: Partial<Upload>) =>
    setAll((now) => now.map((each) => (each.id === id ? { ...each, ...changed } : each)));
  const send = async (id: number, file: File) => {
    change(id, { state: "sending", share: 0, error: null });
    try {
      const { duplicate } = await upload({ baseId, documentId: null, file }, (share) => change(id, { share }));
      change(id, { state: duplicate ? "duplicate" : "sent", share: 1 });
      files.delete(id);
      await client.invalidateQueries({ queryKey: KNOWLEDGE });
    } catch (error) {
      change(id, { state: "failed", error: sentenceOf(error) });
    }
  };
  const queue = (id: number, file: File) => {
    line.current = line.current.then(() => send(id, file));
  };
  return {
    all,
    add: (added) => {
      const entries = added.map((file) => ({ file, id: nextId.current++ }));
      setAll((now) => [
        ...now,
        ...entries.map(({ file, id }) => ({ id, name: file.name, state: "waiting", share: 0, error: null }) as const),
      ]);
      for (const { file, id } of entries) {
        files.set(id, file);
        queue(id, file);
      }
    },
    retry: (id) => {
      const file = files.get(id);
      if (!file) return;
      change(id, { state: "waiting", error: null });
      queue(id, file);
    },
    clear: () => setAll((now) => now.filter(({ state }) => state === "waiting" || state === "sending")),
  };
}
