"""An operator's settings are read, or refused by the names that the operator used."""

from dataclasses import dataclass

import pytest

from reprise_settings import SettingPlace


@dataclass(frozen=True, slots=True)
class Settings:
    ratio: float = 0.1
    pages: int = 4


class SettingError(ValueError):
    pass


KEY = SettingPlace("pages", SettingError, '{"ratio": 0.1}')
VARIABLE = SettingPlace("REPRISE_PAGES", SettingError, '{"ratio": 0.1}', joint=": ")


def test_what_is_not_given_has_its_default() -> None:
    assert KEY.read(Settings, {"pages": 8}) == Settings(pages=8)


@pytest.mark.parametrize(("given", "read"), [(None, None), (False, None), (True, Settings()), ({}, Settings())])
def test_a_place_may_be_left_empty_or_be_switched_on(given: object, read: Settings | None) -> None:
    assert KEY.read_if_given(Settings, given) == read


@pytest.mark.parametrize(
    ("place", "given", "said", "text"),
    [
        (KEY, {"ratoi": 1}, None, "pages.ratoi is no setting; did you mean ratio?"),
        (KEY, {"zzz": 1}, None, "pages.zzz is no setting; known are ratio, pages"),
        (KEY, ["x"], None, "pages is ['x'], it must be an object such as {\"ratio\": 0.1}"),
        (VARIABLE, {"ratoi": 1}, None, "REPRISE_PAGES: ratoi is no setting; did you mean ratio?"),
        (VARIABLE, None, "null", 'REPRISE_PAGES is null, it must be an object such as {"ratio": 0.1}'),
    ],
)
def test_what_cannot_be_read_is_named_as_the_operator_knows_it(
    place: SettingPlace, given: object, said: str | None, text: str
) -> None:
    with pytest.raises(SettingError) as raised:
        place.read(Settings, given, said)
    assert str(raised.value) == text


@pytest.mark.parametrize("value", [True, "1", -0.1, 1.1, float("nan"), None])
def test_a_number_has_bounds(value: object) -> None:
    with pytest.raises(SettingError, match=r"pages\.ratio is .*, it must be a number from 0 to 1"):
        KEY.check_number("ratio", value, 0, 1)


@pytest.mark.parametrize("value", [True, "1", 0, 1.5, None])
def test_a_whole_number_has_a_least(value: object) -> None:
    with pytest.raises(SettingError, match=r"REPRISE_PAGES: pages is .*, it must be a whole number from 1 on"):
        VARIABLE.check_whole("pages", value, 1)
