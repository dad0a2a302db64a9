import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { meQuery } from "../../api/session.ts";

/** Unsaved work that the browser keeps, so that a reload or a crash does not lose it. */
interface KeptWork<Work> {
  work: Work;
  /** When it was kept, in the API's form. */
  at: string;
}

const PREFIX = "parley.unsaved.";

/**
 * Keeps unsaved work in this browser, and offers what an earlier visit left.
 * @param thing names what is worked on, among the things of its owner
 * @param workOf what to keep, without secrets, if the offered work is not decided about; null for nothing
 */
export function useKeptWork<Work>(thing: string, workOf: (offered: Work | null) => Work | null) {
  const name = `${PREFIX}${useQuery(meQuery).data?.owner_id}.${thing}`;
  const [offered, setOffered] = useState(() => kept<Work>(name));
  const work = workOf(offered?.work ?? null);
  const text = work === null ? null : JSON.stringify(work);
  useEffect(() => {
    if (text !== null) keep(name, `{"at":"${new Date().toISOString()}","work":${text}}`);
    // What was worked on since is saved or taken back; what was left before still waits for a decision.
    else keep(name, offered && JSON.stringify(offered));
  }, [name, text, offered]);
  return {
    offered,
    /** The offered work was taken over, or refused. */
    decided: () => setOffered(null),
    forget: () => {
      setOffered(null);
      keep(name, null);
    },
  };
}

function keep(name: string, text: string | null): void {
  try {
    if (text === null) localStorage.removeItem(name);
    else localStorage.setItem(name, text);
  } catch {
    // The browser keeps nothing for pages, or is full: the work is still on the screen.
  }
}

function kept<Work>(name: string): KeptWork<Work> | null {
  try {
    return JSON.parse(localStorage.getItem(name) ?? "null");
  } catch {
    return null;
  }
}

/** Forgets all work, of whoever signs out. */
export function forgetKeptWork(): void {
  const names = Object.keys(localStorage).filter((name) => name.startsWith(PREFIX));
  for (const name of names) localStorage.removeItem(name);
}
