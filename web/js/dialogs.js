// Questions to the person, by the one <dialog> of the page.
import { $, h } from "./dom.js";

// Resolves to the fields' values, {} if there are none, or null for "Cancel".
//   await ask({title: "Rename", yes: "Rename", fields: [{name: "title", label: "Title", value: "…"}]})
export function ask({ title, text = "", yes, fields = [], isDangerous = false }) {
  const dialog = $("ask");
  $("ask-title").textContent = title;
  $("ask-text").textContent = text;
  $("ask-text").hidden = !text;
  $("ask-yes").textContent = yes;
  $("ask-yes").classList.toggle("danger", isDangerous);
  const inputs = fields.map(({ name, label, ...more }) => ({
    name,
    label,
    input: h("input", { autocomplete: "off", ...more }),
  }));
  $("ask-fields").replaceChildren(
    ...inputs.map(({ label, input }) => h("label", { class: input.type }, h("span", {}, label), input)),
  );
  dialog.returnValue = "";
  dialog.showModal();
  (inputs[0]?.input ?? $("ask-yes")).focus();
  return new Promise((resolve) => {
    dialog.onclose = () => {
      if (dialog.returnValue !== "yes") return resolve(null);
      resolve(
        Object.fromEntries(
          inputs.map(({ name, input }) => [name, input.type === "checkbox" ? input.checked : input.value]),
        ),
      );
    };
    dialog.querySelector("form").onkeydown = (event) => {
      if (event.key !== "Enter" || event.target.tagName !== "INPUT") return;
      event.preventDefault();
      dialog.close("yes");
    };
  });
}
