import { useQuery } from "@tanstack/react-query";
import { keysQuery } from "../../keys/keys.ts";

/** Who made a version or published one. @param by as the API names them; null for Parley itself */
export function Author({ by }: { by: string | null }) {
  const [kind = "", id = ""] = by?.split(":") ?? [];
  const keys = useQuery({ ...keysQuery, enabled: kind === "key" }).data;
  if (kind === "key") return <>API key {keys?.find(({ key_id }) => key_id === id)?.name ?? ""}</>;
  if (kind === "operator") return <>Operator {id}</>;
  return <>{kind === "session" ? "Dashboard" : "Parley"}</>;
}
