// What speedscope shows of the trace that the page has been told to open: the name of the profile, and the functions.
(async () => {
	const sandwich = await until("tab Sandwich", () =>
		[...document.querySelectorAll("div")].find((d) => d.innerText === "🥪Sandwich"));
	const profile = document.body.innerText.split("\n").find((l) => l.includes("tid"));
	sandwich.click();
	const rows = await until("table", () => {
		const rows = [...document.querySelectorAll("table tr")].map((r) => r.innerText);
		return rows.length > 1 && rows;
	});
	return { profile, rows };
})()
