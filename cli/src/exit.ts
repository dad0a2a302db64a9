/** Thrown by a command that ends with a status of its own. */
export class Exit extends Error {
  override readonly name = "Exit";
  readonly status: number;

  /** @param complaint for the user; "" if the command has said all */
  constructor(status: number, complaint = "") {
    super(complaint);
    this.status = status;
  }
}
